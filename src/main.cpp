#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "chargpt/app/command_line.hpp"
#include "chargpt/app/report_errors.hpp"
#include "chargpt/base/error.hpp"

namespace {

/// A file that is opened later must not take the place of a standard stream that was closed: messages would go into it.
/// What takes the place cannot be written to, so that a result that nobody could get is an error.
void fill_standard_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

/// A closed pipe, and a file that may not grow, are told by the write itself.
void ignore_signals_of_writes() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

/// Whether what was printed has reached its reader, or one who has closed the pipe and wants no more.
bool finish_output() {
  errno = 0;
  const bool complete = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return complete || errno == EPIPE;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  ignore_signals_of_writes();
  int code = chargpt::report_errors([&] { return chargpt::run_command_line(argc, argv); });
  if (!finish_output() && code == 0) {
    code = chargpt::report_errors([]() -> int {
      throw chargpt::Error(chargpt::ExitCode::io, "cannot write to standard output: what was printed is not complete");
    });
  }
  std::fflush(stderr);
  // Not exit(): the threads and static objects of LibTorch are best left alone at the end.
  _exit(code);
}
