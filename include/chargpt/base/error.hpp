#pragma once

#include <stdexcept>
#include <string>

namespace chargpt {

/// What the process exits with. A contract with scripts; the numbers 64–78 are those of BSD's sysexits.h.
enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  bad_data = 65,
  no_input = 66,
  cannot_create = 73,
  io = 74,
  locked = 75,
  diverged = 76,
  out_of_memory = 77,
  unusable_model = 78,
};

/// A failure that a user can act on. The message says what was got, what is wanted, where, and what to do; it is one
/// line without a trailing newline, and no caller adds a prefix other than "error: ".
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

[[noreturn]] inline void fail_usage(const std::string& message) { throw Error(ExitCode::usage, message); }
[[noreturn]] inline void fail_bad_data(const std::string& message) { throw Error(ExitCode::bad_data, message); }

}  // namespace chargpt
