#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace chargpt {

struct ProgramResult {
  int code = 0;  ///< exit code, or 128 + n when killed by signal n
  std::string out, err;
  std::int64_t max_resident = 0;  ///< largest resident memory, in bytes
};

/// How a program is started besides its arguments.
struct ProgramOptions {
  std::string folder{};                    ///< working folder; empty: this process's
  std::string input{};                     ///< its standard input
  std::vector<std::string> environment{};  ///< "NAME=value", added to this process's
  /// Called with the pid and all of stderr so far whenever there is more of it, e.g. to send a signal at a certain
  /// line.
  std::function<void(pid_t, const std::string&)> on_stderr{};
};

namespace detail {

struct Pipe {
  int ends[2];
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  }
};

[[noreturn]] inline void become(const std::vector<std::string>& command, const ProgramOptions& options, const Pipe& in,
                                const Pipe& out, const Pipe& err) {
  dup2(in.ends[0], 0);
  dup2(out.ends[1], 1);
  dup2(err.ends[1], 2);
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  for (const std::string& variable : options.environment) {
    const auto equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

/// Appends what can be read. False at the end of the stream.
inline bool drain(int descriptor, std::string& text) {
  char buffer[4096];
  const ssize_t got = read(descriptor, buffer, sizeof buffer);
  if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace detail

/// Runs a program to its end.
inline ProgramResult run_program(const std::vector<std::string>& command, const ProgramOptions& options = {}) {
  detail::Pipe in, out, err;
  const pid_t pid = fork();
  if (pid == 0) detail::become(command, options, in, out, err);
  close(in.ends[0]);
  close(out.ends[1]);
  close(err.ends[1]);
  if (write(in.ends[1], options.input.data(), options.input.size()) < 0) throw std::runtime_error("write");
  close(in.ends[1]);
  ProgramResult result;
  pollfd streams[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    poll(streams, 2, -1);
    if (streams[0].revents != 0 && !detail::drain(streams[0].fd, result.out)) streams[0].fd = -1;
    if (streams[1].revents != 0) {
      if (!detail::drain(streams[1].fd, result.err))
        streams[1].fd = -1;
      else if (options.on_stderr)
        options.on_stderr(pid, result.err);
    }
  }
  close(out.ends[0]);
  close(err.ends[0]);
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  result.max_resident = 1024 * usage.ru_maxrss;
  result.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace chargpt
