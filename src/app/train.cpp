#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <vector>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/engine_library.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/data_files.hpp"
#include "chargpt/base/nearest.hpp"
#include "chargpt/base/run_folder.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// Keys and sections that a resumed run may change: how long and how often, speed, and the optimizer's pace. All else
/// would make it another run. Data paths may move: the data itself is checked by its fingerprint.
constexpr std::array kMayChange = {"data.path",
                                   "data.val_path",
                                   "data.test_path",
                                   "data.cache",
                                   "model.attention",
                                   "train.steps",
                                   "train.epochs",
                                   "train.characters",
                                   "train.target_loss",
                                   "train.patience",
                                   "train.micro_batch",
                                   "train.eval_first",
                                   "train.eval_every",
                                   "train.save_every",
                                   "train.keep",
                                   "train.log_every",
                                   "train.sample_every",
                                   "train.sample_prompts",
                                   "train.on_nonfinite",
                                   "eval.",
                                   "schedule.",
                                   "optimizer.learning_rate",
                                   "optimizer.weight_decay",
                                   "optimizer.clip",
                                   "run.device",
                                   "run.tf32",
                                   "run.precision",
                                   "run.threads",
                                   "run.pin",
                                   "run.stop_signals",
                                   "run.tensorboard",
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

/// What "auto" was settled to in the beginning holds for the whole run.
void keep_micro_batch(const Json& stored, Config& config, const std::string& folder) {
  if (config.train.micro_batch) return;
  config.train.micro_batch = config_from_json(stored, RunPaths(folder).config()).train.micro_batch;
}

void require_data_file(const Config& config) {
  if (config.data.path.empty()) {
    throw Error(ExitCode::usage, "no data to train on: give --data PATH, or data.path in the config");
  }
  for (const std::string& path : {config.data.path, config.data.val_path, config.data.test_path}) {
    for (const std::string& file : path.empty() ? std::vector<std::string>{} : data_files(path)) {
      if (file != "-" && !fs::exists(file)) throw Error(ExitCode::no_input, fmt::format("{}: no such file", file));
    }
  }
}

void require_init_file(const std::string& path) {
  if (!path.empty() && !fs::exists(path)) throw Error(ExitCode::no_input, fmt::format("--init {}: no such file", path));
}

/// The folder to write is new, empty, a run, or one that died at birth (a lock and no config).
void require_ours(const RunPaths& paths) {
  const std::string& folder = paths.root;
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw Error(ExitCode::cannot_create, fmt::format("{} is a file: give a folder to --out", folder));
  }
  if (is_run_folder(folder) || !fs::exists(folder) || fs::is_empty(folder) || fs::exists(paths.lock())) return;
  throw Error(ExitCode::usage, fmt::format("{} is not empty and holds no run: give a new folder to --out", folder));
}

/// To be asked while the lock is held: a run in progress is reported as such.
void require_no_run(const std::string& folder) {
  if (!is_run_folder(folder)) return;
  throw Error(ExitCode::usage, fmt::format("{} holds a run already: continue it with --resume {}, replace it with "
                                           "--overwrite, or give another --out",
                                           folder, folder));
}

/// What is read is never written: no input may be a file that the run writes, or lie among its checkpoints.
void require_inputs_apart(const Config& config, const std::string& init, const RunPaths& paths) {
  std::error_code ignored;  // what is not there yet is no data file
  const std::string checkpoints = fs::weakly_canonical(paths.checkpoints(), ignored).string() + "/";
  const DataConfig& data = config.data;
  for (const std::string& input : {data.path, data.val_path, data.test_path, data.vocabulary, init}) {
    if (input.empty()) continue;
    bool written = fs::weakly_canonical(input, ignored).string().starts_with(checkpoints);
    for (const std::string& file : {paths.config(), paths.metrics(), paths.log(), paths.lock()}) {
      written = written || (fs::exists(file, ignored) && is_data_file(file, input));
    }
    if (written) {
      throw Error(ExitCode::usage, fmt::format("the file {} is one that the run in {} writes: copy it elsewhere, "
                                               "or give another --out",
                                               input, paths.root));
    }
  }
}

/// It is a run that goes on, not one of its checkpoints, and "auto" is spelt so.
void require_run_to_resume(const std::string& folder) {
  if (!fs::exists(folder) && nearest(folder, {"auto"}) == "auto") {
    throw Error(ExitCode::usage, fmt::format("--resume {}: there is no such run folder; did you mean auto?", folder));
  }
  if (!fs::exists(folder + "/manifest.json")) return;
  const fs::path run = fs::weakly_canonical(folder).parent_path().parent_path();
  throw Error(ExitCode::usage, fmt::format("--resume {}: that is a checkpoint; its run goes on from the newest with "
                                           "--resume {}",
                                           folder, run.string()));
}

/// Everything that can be wrong with a request is found here, and nothing is created.
Request prepare(const Arguments& arguments, const std::string& folder, bool resume_named) {
  const bool resume = resume_named || (arguments.resume == "auto" && !folder.empty() && is_run_folder(folder));
  const Json stored = resume ? stored_config(folder) : Json(nullptr);
  LoadedConfig loaded = resolve_config(arguments, stored, RunPaths(folder).config());
  if (resume) keep_micro_batch(stored, loaded.config, folder);
  check_rules(loaded.config);
  Request request = make_request(Command::train, arguments, loaded.config);
  if (resume) request.notes = changes(stored, loaded, folder);
  require_data_file(loaded.config);
  require_inputs_apart(loaded.config, arguments.init, RunPaths(folder));
  require_ours(RunPaths(folder));
  require_init_file(arguments.init);
  request.run_folder = folder;
  request.resume = resume;
  request.init = arguments.init;
  request.overwrite = arguments.overwrite;
  request.dry_run = arguments.dry_run;
  request.check_only = arguments.check_only;
  request.allow_data_change = arguments.allow_data_change;
  return request;
}

/// The folders on the way to `folder` that are not there yet, innermost first.
std::vector<fs::path> missing_folders(const std::string& folder) {
  std::vector<fs::path> missing;
  for (fs::path path = folder; !path.empty() && !fs::exists(path); path = path.parent_path()) missing.push_back(path);
  return missing;
}

/// Has a run that never began leave nothing behind. To be made, and to end, while the run's lock is held.
class FolderGuard {
 public:
  FolderGuard(std::string folder, std::vector<fs::path> made) : folder_(std::move(folder)), made_(std::move(made)) {}
  FolderGuard(const FolderGuard&) = delete;
  FolderGuard& operator=(const FolderGuard&) = delete;
  ~FolderGuard() {
    if (is_run_folder(folder_)) return;
    std::error_code ignored;  // what cannot be removed holds something foreign and stays
    fs::remove(RunPaths(folder_).lock(), ignored);
    for (const fs::path& path : made_) fs::remove(path, ignored);
  }

 private:
  std::string folder_;
  std::vector<fs::path> made_;
};

}  // namespace

int run_train(const Arguments& arguments) { return run_train_on(nullptr, arguments); }

int run_train_on(const Corpus* corpus, const Arguments& arguments) {
  const auto started = std::chrono::steady_clock::now();
  const bool resume_named = !arguments.resume.empty() && arguments.resume != "auto";
  if (resume_named) require_run_to_resume(arguments.resume);
  if (resume_named && !arguments.out.empty()) {
    throw Error(ExitCode::usage,
                "--resume DIR continues in that folder: leave --out away, or say --resume auto --out DIR");
  }
  if (!arguments.resume.empty() && arguments.overwrite) {
    throw Error(ExitCode::usage, "--resume continues a run, --overwrite replaces it: give one of them");
  }
  if (resume_named && !arguments.init.empty()) {
    throw Error(ExitCode::usage,
                "--init starts a new run from a file's weights, --resume DIR continues a run with its own: give one of "
                "them");
  }
  if (!resume_named && arguments.out.empty() && !arguments.dry_run)
    throw Error(ExitCode::usage, "where to write? Give --out DIR, such as runs/first");

  const std::string folder =
      resume_named ? arguments.resume : fill_placeholders(arguments.out, resolve_config(arguments).config);
  Request request = prepare(arguments, folder, resume_named);
  if (arguments.dry_run) {
    if (arguments.resume.empty() && !arguments.overwrite) require_no_run(folder);
    request.corpus = corpus;
    return run_engine(request);
  }
  auto missing = missing_folders(folder);
  const RunLock lock(folder);
  const FolderGuard guard(folder, std::move(missing));
  // Again, since another process may have begun or ended a run here in the meantime.
  if (arguments.resume.empty() && !arguments.overwrite) require_no_run(folder);
  request = prepare(arguments, folder, resume_named);
  request.corpus = corpus;
  if (arguments.max_seconds) {
    request.deadline = started + std::chrono::milliseconds(static_cast<std::int64_t>(1000 * *arguments.max_seconds));
  }
  return run_engine(request);
}

}  // namespace chargpt
