#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include "chargpt/app/command_line.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/output.hpp"

namespace {

int fail(chargpt::ExitCode code, const char* message) {
  chargpt::write_message(fmt::format("error: {}\n", message));
  return static_cast<int>(code);
}

/// A file that is opened later must not take the place of a standard stream that was closed: messages would go into it.
/// What takes the place cannot be written to, so that a result that nobody could get is an error.
void fill_standard_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

int run(int argc, const char* const* argv) {
  try {
    return chargpt::run_command_line(argc, argv);
  } catch (const chargpt::Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(chargpt::ExitCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return fail(chargpt::ExitCode::internal, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  int code = run(argc, argv);
  const bool complete = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!complete && code == 0) {
    code = fail(chargpt::ExitCode::io, "cannot write to standard output: what was printed is not complete");
  }
  std::fflush(stderr);
  // Not exit(): the threads and static objects of LibTorch are best left alone at the end.
  _exit(code);
}
