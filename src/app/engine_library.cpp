#include "chargpt/app/engine_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "chargpt/app/stop_signal.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/signal_list.hpp"
#include "chargpt/base/version.hpp"

namespace chargpt {
namespace {

std::string library_path() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path().parent_path() / "lib" / "libchargpt.so").string();
}

RunFunction open_engine() {
  const std::string path = library_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ExitCode::internal,
                fmt::format("cannot open the engine library {}: {}; build it with ./dev build", path, dlerror()));
  }
  void* symbol = dlsym(library, kRunFunctionName);
  if (symbol == nullptr)
    throw Error(ExitCode::internal, fmt::format("{} is not the engine of this program: {}", path, dlerror()));
  return reinterpret_cast<RunFunction>(symbol);
}

/// Whether a command asks for signals by itself. One that has nothing to save or to finish is ended by the system.
bool minds_signals(Command command) {
  switch (command) {
    case Command::train:
    case Command::sample:
    case Command::eval:
    case Command::bench:
      return true;
    case Command::explain:
    case Command::doctor:
      return false;
  }
  return false;
}

}  // namespace

int run_engine(Request request) {
  if (request.stop_signal == nullptr) {
    const auto signals =
        minds_signals(request.command) ? parse_signal_list(request.config.run.stop_signals) : std::vector<int>{};
    request.stop_signal = &catch_stop_signals(signals);
  }
  return open_engine()(std::string(version()).c_str(), request);
}

}  // namespace chargpt
