#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

namespace chargpt {

/// Largest growth of the resident memory, in bytes, that `action` causes in a process of its own; -1 if that process
/// did not end by itself.
inline std::int64_t memory_growth(const std::function<void()>& action) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    action();
    getrusage(RUSAGE_SELF, &after);
    const std::int64_t growth = (after.ru_maxrss - before.ru_maxrss) * 1024;
    _exit(write(ends[1], &growth, sizeof(growth)) == sizeof(growth) ? 0 : 1);
  }
  close(ends[1]);
  std::int64_t growth = -1;
  const bool answered = read(ends[0], &growth, sizeof(growth)) == sizeof(growth);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return answered ? growth : -1;
}

}  // namespace chargpt
