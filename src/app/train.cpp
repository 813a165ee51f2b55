#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/engine_library.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/run_folder.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// Keys and sections that a resumed run may change: how long and how often, speed, and the optimizer's pace. All else
/// would make it another run. Data paths may move: the data itself is checked by its fingerprint.
constexpr std::array kMayChange = {"data.path",
                                   "data.val_path",
                                   "data.test_path",
                                   "model.attention",
                                   "train.steps",
                                   "train.epochs",
                                   "train.micro_batch",
                                   "train.eval_every",
                                   "train.save_every",
                                   "train.keep",
                                   "train.log_every",
                                   "train.sample_every",
                                   "eval.",
                                   "schedule.",
                                   "optimizer.learning_rate",
                                   "optimizer.weight_decay",
                                   "optimizer.clip",
                                   "run.device",
                                   "run.threads",
                                   "sample."};

bool may_change(const std::string& key) {
  return std::any_of(kMayChange.begin(), kMayChange.end(), [&](std::string_view allowed) {
    return allowed.ends_with('.') ? key.starts_with(allowed) : key == allowed;
  });
}

/// One line for each key that the resume changes. Error(usage) for a key that must stay.
std::vector<std::string> changes(const Json& stored, const LoadedConfig& loaded, const std::string& folder) {
  Config before = config_from_json(stored, RunPaths(folder).config());
  Config after = loaded.config;
  const KeyList old_keys = describe(before), new_keys = describe(after);
  std::vector<std::string> notes;
  for (const ConfigKey& key : new_keys.keys()) {
    const Json was = old_keys.find(key.name)->get(), now = key.get();
    if (was == now) continue;
    const std::string change = fmt::format("{} is {} in {} and {} by {}", key.name, was.dump(), folder, now.dump(),
                                           loaded.origin.at(key.name));
    if (!may_change(key.name)) {
      throw Error(ExitCode::usage,
                  change + "; it cannot change on a resume: leave it out, or start another run with another --out");
    }
    notes.push_back(fmt::format("changed on resume: {}, was {}, is now {}", key.name, was.dump(), now.dump()));
  }
  return notes;
}

void require_data_file(const Config& config) {
  if (config.data.path.empty()) {
    throw Error(ExitCode::usage, "no data to train on: give --data PATH, or data.path in the config");
  }
  for (const std::string& path : {config.data.path, config.data.val_path, config.data.test_path}) {
    if (!path.empty() && !fs::exists(path)) throw Error(ExitCode::no_input, fmt::format("{}: no such file", path));
  }
}

/// The folder to write is new, empty, or a run that may be continued or overwritten.
void require_writable(const std::string& folder, const Arguments& arguments) {
  if (is_run_folder(folder)) {
    if (!arguments.resume.empty() || arguments.overwrite) return;
    throw Error(
        ExitCode::usage,
        fmt::format("{} holds a run already: continue it with --resume {}, replace it with --overwrite, or give "
                    "another --out",
                    folder, folder));
  }
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw Error(ExitCode::cannot_create, fmt::format("{} is a file: give a folder to --out", folder));
  }
  const auto foreign = [](const fs::directory_entry& entry) { return entry.path().filename() != "lock"; };
  if (fs::exists(folder) && std::any_of(fs::directory_iterator(folder), fs::directory_iterator(), foreign)) {
    throw Error(ExitCode::usage, fmt::format("{} is not empty and holds no run: give a new folder to --out", folder));
  }
}

/// A run that never began leaves no folder behind.
void remove_if_unused(const std::string& folder) {
  if (is_run_folder(folder)) return;
  std::error_code ignored;  // what cannot be removed holds something foreign and stays
  fs::remove(RunPaths(folder).lock(), ignored);
  fs::remove(folder, ignored);
}

int train_locked(const Request& request) {
  const RunLock lock(request.run_folder);
  int code = 0;
  try {
    code = run_engine(request);
  } catch (...) {
    remove_if_unused(request.run_folder);
    throw;
  }
  remove_if_unused(request.run_folder);
  return code;
}

}  // namespace

int run_train(const Arguments& arguments) {
  const bool resume_named = !arguments.resume.empty() && arguments.resume != "auto";
  if (resume_named && !arguments.out.empty()) {
    throw Error(ExitCode::usage,
                "--resume DIR continues in that folder: leave --out away, or say --resume auto --out DIR");
  }
  if (!arguments.resume.empty() && arguments.overwrite) {
    throw Error(ExitCode::usage, "--resume continues a run, --overwrite replaces it: give one of them");
  }
  if (!resume_named && arguments.out.empty())
    throw Error(ExitCode::usage, "where to write? Give --out DIR, such as runs/first");

  std::string folder = resume_named ? arguments.resume : arguments.out;
  if (!resume_named) folder = fill_placeholders(folder, resolve_config(arguments).config);
  const bool resume = resume_named || (arguments.resume == "auto" && is_run_folder(folder));
  const Json stored = resume ? stored_config(folder) : Json(nullptr);
  const LoadedConfig loaded = resolve_config(arguments, stored, RunPaths(folder).config());

  Request request = make_request(Command::train, arguments, loaded.config);
  check_rules(loaded.config);
  if (resume) request.notes = changes(stored, loaded, folder);
  require_data_file(loaded.config);
  require_writable(folder, arguments);
  request.run_folder = folder;
  request.resume = resume;
  request.overwrite = arguments.overwrite;
  return train_locked(request);
}

}  // namespace chargpt
