#include "chargpt/base/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>

#include "chargpt/base/checkpoint_folder.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/run_folder.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;

bool holds_run(const std::string& folder) {
  std::error_code ignored;
  return is_run_folder(folder) || fs::is_regular_file(RunPaths(folder).metrics(), ignored);
}

void add_runs(const std::string& folder, int depth, std::vector<std::string>& found) {
  if (holds_run(folder)) {
    found.push_back(folder);
    return;
  }
  if (depth == kDeepest) return;
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored)) folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  for (const std::string& child : folders) add_runs(child, depth + 1, found);
}

Json read_config(RunHistory& run) {
  const std::string path = RunPaths(run.name).config();
  try {
    Json config = parse_json(read_file(path), {.source = path});
    if (config.is_object()) return config;
    run.notes.push_back(path + " holds no config");
  } catch (const Error& error) {
    run.notes.emplace_back(error.what());
  }
  return nullptr;
}

/// Of the shapes in the newest checkpoint. A run without one is shown without the number.
std::optional<std::int64_t> count_parameters(const std::string& folder) {
  const RunPaths paths(folder);
  const auto steps = list_checkpoints(paths.checkpoints());
  if (steps.empty()) return std::nullopt;
  try {
    std::int64_t count = 0;
    const SafetensorsFile file(paths.checkpoint(steps.back()) + "/" + kModelFileName);
    for (const TensorEntry& tensor : file.tensors()) {
      count += std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>());
    }
    return count;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Json RunHistory::key(const std::string& section, const std::string& key_name) const {
  if (!config.is_object() || !config.contains(section) || !config[section].is_object()) return nullptr;
  return config[section].value(key_name, Json(nullptr));
}

std::vector<std::string> find_runs(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    throw Error(ExitCode::no_input, fmt::format("{}: no such folder; give a run folder, or one that holds some", path));
  }
  std::vector<std::string> found;
  add_runs(path, 0, found);
  if (!found.empty()) return found;
  throw Error(ExitCode::no_input,
              fmt::format("{} is no run folder (no metrics.jsonl, no config.json), and there is none in it", path));
}

RunHistory read_run(const std::string& folder) {
  RunHistory run;
  run.name = folder;
  const std::string path = RunPaths(folder).metrics();
  run.metrics = read_metrics(path);
  run.config = read_config(run);
  run.parameters = count_parameters(folder);
  const ForeignLines& foreign = run.metrics.foreign;
  if (foreign.count > 0) {
    run.notes.push_back(fmt::format("{}: {} lines that are no records are left out, the first of them line {}", path,
                                    foreign.count, foreign.first));
  }
  return run;
}

}  // namespace chargpt
