#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <new>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/version.hpp"
#include "chargpt/commands/commands.hpp"

namespace chargpt {
namespace {

void set_up_log(const Request& request) {
  auto logger = std::make_shared<spdlog::logger>("chargpt", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(request.verbosity > 0 ? "[%H:%M:%S] %v" : "%v");
  logger->set_level(request.verbosity < 0   ? spdlog::level::warn
                    : request.verbosity > 0 ? spdlog::level::debug
                                            : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

int dispatch(const Request& request) {
  switch (request.command) {
    case Command::train:
      return train_command(request);
    case Command::sample:
      return sample_command(request);
    case Command::eval:
      return eval_command(request);
    case Command::bench:
      return bench_command(request);
    case Command::explain:
      return explain_command(request);
    case Command::doctor:
      return doctor_command(request);
  }
  return static_cast<int>(ExitCode::internal);
}

int fail(ExitCode code, const std::string& message) {
  spdlog::error("error: {}", message);
  return static_cast<int>(code);
}

constexpr const char* kMemoryAdvice =
    "out of memory: lower train.micro_batch (the result stays the same; \"auto\" fits it to the memory), train.batch "
    "or "
    "the model's size";

}  // namespace
}  // namespace chargpt

extern "C" int chargpt_run(const char* version, const chargpt::Request& request) {
  using namespace chargpt;
  if (chargpt::version() != version) {
    fmt::print(stderr, "error: the program is version {}, its library {}; install both from one build\n", version,
               chargpt::version());
    return static_cast<int>(ExitCode::internal);
  }
  set_up_log(request);
  try {
    if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);  // once a process, says LibTorch
    return dispatch(request);
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const Interrupted&) {
    return 128 + request.stop_signal->load();
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::out_of_memory, kMemoryAdvice);
  } catch (const c10::OutOfMemoryError&) {
    return fail(ExitCode::out_of_memory, kMemoryAdvice);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    if (message.find("can't allocate memory") != std::string::npos) return fail(ExitCode::out_of_memory, kMemoryAdvice);
    return fail(ExitCode::internal, message);
  } catch (const std::exception& error) {
    return fail(ExitCode::internal, error.what());
  }
}
