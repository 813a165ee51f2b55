#include "chargpt/app/report_errors.hpp"

#include <fmt/format.h>

#include <new>

#include "chargpt/base/error.hpp"
#include "chargpt/base/output.hpp"

namespace chargpt {
namespace {

int fail(ExitCode code, const char* message) {
  write_message(fmt::format("error: {}\n", message));
  return static_cast<int>(code);
}

}  // namespace

int report_errors(const std::function<int()>& run) {
  try {
    return run();
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return fail(ExitCode::internal, error.what());
  }
}

}  // namespace chargpt
