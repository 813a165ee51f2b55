#include "chargpt/base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "chargpt/base/control_groups.hpp"
#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// The number that a file begins with; nothing where there is none ("max") or no file.
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The number behind a word in a file of lines "word number".
std::optional<std::int64_t> number_behind(const fs::path& path, const std::string& wanted) {
  std::ifstream file(path);
  for (std::string word, line; file >> word; std::getline(file, line)) {
    std::int64_t number = 0;
    if (word == wanted && file >> number) return number;
  }
  return std::nullopt;
}

std::int64_t left_by_system(const fs::path& root) {
  const auto kilobytes = number_behind(root / "proc/meminfo", "MemAvailable:");
  return kilobytes ? *kilobytes * 1024 : kUnlimited;
}

/// Of one group: its limit less what it uses, but for the file contents that the kernel gives up when memory is short.
std::int64_t left_by_group(const fs::path& group, const char* limit_file, const char* usage_file) {
  const auto limit = number_in(group / limit_file), usage = number_in(group / usage_file);
  if (!limit || !usage) return kUnlimited;
  const std::int64_t files = number_behind(group / "memory.stat", "inactive_file").value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - files));
}

std::int64_t left_by_groups(const std::string& root) {
  const ControlGroups groups = control_groups("memory", root);
  std::int64_t left = kUnlimited;
  for (const fs::path& group : groups.version_2) {
    left = std::min(left, left_by_group(group, "memory.max", "memory.current"));
  }
  for (const fs::path& group : groups.version_1) {
    left = std::min(left, left_by_group(group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
  }
  return left;
}

std::int64_t left_by_limit(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::int64_t used = number_in(root / "proc/self/statm").value_or(0) * ::sysconf(_SC_PAGESIZE);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - used);
}

}  // namespace

std::int64_t available_memory(const std::string& root) {
  const fs::path files = root + "/";
  return std::min({left_by_system(files), left_by_groups(root), left_by_limit(files)});
}

void require_memory(std::uint64_t needed, std::int64_t available, const std::string& what, const std::string& advice) {
  if (available >= 0 && needed <= static_cast<std::uint64_t>(available)) return;
  const std::uint64_t mebibytes = (needed >> 20) + (needed % (1 << 20) == 0 ? 0 : 1);  // up: more than are free
  throw Error(ExitCode::out_of_memory, fmt::format("out of memory: {} take {} MiB, but {} MiB are free; {}", what,
                                                   mebibytes, available >> 20, advice));
}

std::int64_t last_level_cache(const std::string& root) {
  const fs::path caches = root + "/sys/devices/system/cpu/cpu0/cache";
  std::int64_t kibibytes = 0;
  for (const char* cache : {"index2", "index3"}) {  // 0 and 1 are the first level's; sizes are written as "32768K"
    kibibytes = number_in(caches / cache / "size").value_or(kibibytes);
  }
  return kibibytes << 10;
}

std::int64_t resident_memory() {
  std::int64_t all = 0, resident = 0;  // pages; see proc(5)
  std::ifstream file("/proc/self/statm");
  return file >> all >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

std::int64_t peak_resident_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts kilobytes
}

}  // namespace chargpt
