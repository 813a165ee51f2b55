#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <numeric>
#include <vector>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/base/model_file.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/run_folder.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

Json new_report(const char* kind, const std::string& path) {
  return {{"v", 1},
          {"kind", kind},
          {"path", path},
          {"sound", true},
          {"problem", nullptr},
          {"step", nullptr},
          {"parameters", nullptr},
          {"vocabulary_size", nullptr}};
}

void mark_unsound(Json& report, const std::string& problem) {
  report["sound"] = false;
  report["problem"] = problem;
}

/// Runs `look`, which adds to the report what it finds. What it had found before a fault stays in the report.
template <typename Look>
void judge(Json& report, Look look) {
  try {
    look();
  } catch (const Error& error) {
    mark_unsound(report, error.what());
  }
}

Json vocabulary_sample(const Tokenizer& tokenizer) {
  constexpr std::int64_t kShown = 32;
  Json symbols = Json::array();
  for (std::int32_t id = 0; id < std::min(kShown, tokenizer.size()); ++id)
    symbols.push_back(tokenizer.as_utf8(tokenizer.symbol(id)));
  return symbols;
}

/// Looks at the weights last, so that the report tells what the file is even where they are not finite.
void look_at_model(const std::string& path, Json& report) {
  const ModelFile file(path);
  report["parameters"] = file.layout().size();
  report["vocabulary_size"] = file.tokenizer().size();
  report["vocabulary_sample"] = vocabulary_sample(file.tokenizer());
  report["verified"] = file.verified();
  Config config;
  config.model = file.config();
  report["model"] = to_json(config).at("model");
  std::vector<float> values(static_cast<std::size_t>(file.layout().size()));
  file.copy_values(values);
}

void look_at_moments(const std::string& checkpoint, const OptimizerConfig& optimizer) {
  const auto names = optimizer_state(optimizer);
  if (names.empty()) return;
  const ParameterLayout layout = ModelFile(checkpoint + "/" + kModelFileName).layout();
  const SafetensorsFile file(checkpoint + "/" + kOptimizerFileName);
  std::vector<float> values(static_cast<std::size_t>(layout.size()));
  for (const std::string& name : names) copy_parameters(file, layout, name + ".", values);
}

/// The average of the weights, where the checkpoint has one.
void look_at_average(const std::string& checkpoint, const Manifest& manifest, Json& report) {
  report["ema"] = manifest.files.contains(kAverageFileName);
  if (!report["ema"].get<bool>()) return;
  const ModelFile file(checkpoint + "/" + kAverageFileName);
  std::vector<float> values(static_cast<std::size_t>(file.layout().size()));
  file.copy_values(values);
}

/// Tensors that another program saved: what `train --init` starts from.
void look_at_tensors(const SafetensorsFile& file, Json& report) {
  std::int64_t numbers = 0;
  report["tensors"] = Json::object();
  for (const TensorEntry& tensor : file.tensors()) {
    report["tensors"][tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}};
    numbers += std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  report["parameters"] = numbers;
  report["verified"] = file.verified();
  for (const TensorEntry& tensor : file.tensors()) require_finite(file, tensor);
}

Json inspect_file(const std::string& path) {
  Json report = new_report("model", path);
  judge(report, [&] {
    const SafetensorsFile file(path);
    report["bytes"] = fs::file_size(path);
    if (file.metadata().contains("config")) return look_at_model(path, report);
    report["kind"] = "state_dict";
    look_at_tensors(file, report);
  });
  return report;
}

Json inspect_checkpoint(const std::string& folder) {
  Json report = new_report("checkpoint", folder);
  judge(report, [&] {
    const Manifest manifest = verify_checkpoint(folder);
    const Json described = manifest.to_json();
    for (const char* member : {"step", "files", "data", "build", "best", "acts_pending"}) {
      report[member] = described.at(member);
    }
    look_at_model(folder + "/" + kModelFileName, report);
    look_at_average(folder, manifest, report);
    look_at_moments(folder, config_from_json(manifest.config, folder).optimizer);
  });
  return report;
}

/// The run is what its newest sound checkpoint is, and sound when all of it is.
Json inspect_run(const std::string& folder) {
  const RunPaths paths(folder);
  Json report = new_report("run", folder);
  Json checkpoints = Json::array();
  for (const std::int64_t step : list_checkpoints(paths.checkpoints())) {
    const Json checkpoint = inspect_checkpoint(paths.checkpoint(step));
    checkpoints.push_back({{"step", step}, {"sound", checkpoint["sound"]}, {"problem", checkpoint["problem"]}});
    if (!checkpoint["sound"].get<bool>()) {
      mark_unsound(report, checkpoint["problem"]);
      continue;
    }
    for (const char* member : {"step", "parameters", "vocabulary_size", "vocabulary_sample", "model", "ema"}) {
      report[member] = checkpoint.at(member);
    }
  }
  report["checkpoints"] = checkpoints;
  judge(report, [&] {
    const auto best = read_best(paths.checkpoints());
    report["best"] = best ? Json(*best) : Json(nullptr);
    if (!best || fs::exists(paths.checkpoint(*best))) return;
    mark_unsound(report, fmt::format("{} has no checkpoint of step {}, which is its best", folder, *best));
  });
  judge(report, [&] { config_from_json(stored_config(folder), paths.config()); });
  return report;
}

/// A folder that lacks its most important file is still told from one that never was ours.
Json inspect_path(const std::string& path) {
  if (!fs::exists(path)) throw Error(ExitCode::no_input, fmt::format("{}: no such file or folder", path));
  if (!fs::is_directory(path)) return inspect_file(path);
  const auto holds = [&](const std::string& name) { return fs::exists(path + "/" + name); };
  if (holds("manifest.json") || holds(kModelFileName)) return inspect_checkpoint(path);
  if (holds("config.json") || holds("checkpoints")) return inspect_run(path);
  throw Error(ExitCode::no_input,
              fmt::format("{} is no run folder (no config.json) and no checkpoint (no manifest.json)", path));
}

std::string text_of(const Json& report) {
  std::string text;
  for (const auto& [key, value] : report.items()) {
    if (value.is_null() || key == "v") continue;  // the version is for scripts
    const std::string shown_value = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format("{:<18}{}\n", key, shown_value);
  }
  return text;
}

}  // namespace

int run_inspect(const Arguments& arguments) {
  const Json report = inspect_path(arguments.path);
  const std::string json = report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  write_output(arguments.json ? json : text_of(report));
  if (report["sound"].get<bool>()) return 0;
  throw Error(ExitCode::unusable_model, report["problem"].get<std::string>());
}

}  // namespace chargpt
