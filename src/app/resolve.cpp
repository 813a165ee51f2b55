#include "chargpt/app/resolve.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "chargpt/base/file.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/terminal.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

std::vector<std::pair<std::string, std::string>> environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string newest_run() {
  std::string newest;
  fs::file_time_type newest_time;
  std::error_code none;  // without runs/ there is nothing to find
  for (const auto& entry : fs::directory_iterator("runs", none)) {
    const std::string folder = entry.path().string();
    const std::string checkpoints = RunPaths(folder).checkpoints();
    if (!is_run_folder(folder) || list_checkpoints(checkpoints).empty()) continue;
    const auto time = fs::last_write_time(checkpoints, none);
    if (newest.empty() || time > newest_time) {
      newest = folder;
      newest_time = time;
    }
  }
  return newest;
}

WeightsChoice parse_weights(const std::string& text) {
  if (text.empty()) return WeightsChoice::automatic;
  for (const WeightsChoice choice : {WeightsChoice::ema, WeightsChoice::raw}) {
    if (text == name(choice)) return choice;
  }
  throw Error(ExitCode::usage, fmt::format("--weights: got \"{}\", wanted ema or raw", text));
}

/// A key's value as it can stand in a file name.
std::string file_name_part(const ConfigKey& key) {
  const Json value = key.get();
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '/' || c == ' ' || c == '\0'; }, '_');
  return text;
}

/// Another file than the run's is text or JSONL by its own name. Lines and bytes no name tells: they stay.
void forget_file_format(Json& base) {
  if (!base.contains("data") || !base["data"].is_object()) return;
  Json& data = base["data"];
  for (const DataFormat format : {DataFormat::text, DataFormat::jsonl}) {
    if (data.contains("format") && data["format"] == name(format)) data["format"] = name(DataFormat::automatic);
  }
}

}  // namespace

LoadedConfig resolve_config(const Arguments& arguments, const Json& base, const std::string& base_name) {
  return load_config({base, base_name, arguments.config_file, environment(), arguments.overrides});
}

Json stored_config(const std::string& folder) {
  const std::string manifest = folder + "/manifest.json";
  if (fs::exists(manifest)) return verify_checkpoint(folder).config;
  if (!is_run_folder(folder)) {
    throw Error(ExitCode::no_input,
                fmt::format("{} is no run folder (no config.json) and no checkpoint (no manifest.json)", folder));
  }
  const std::string path = RunPaths(folder).config();
  return parse_json(read_file(path), {path, ExitCode::unusable_model});
}

Request make_request(Command command, const Arguments& arguments, const Config& config) {
  Request request;
  request.command = command;
  request.config = config;
  request.json = arguments.json;
  request.verbosity = arguments.quiet ? -1 : arguments.verbose ? 1 : 0;
  request.color = wants_live_line(STDERR_FILENO, arguments.no_color);
  return request;
}

ModelChoice choose_model_arguments(const Arguments& arguments) {
  if (!arguments.run.empty() && !arguments.model.empty()) {
    throw Error(ExitCode::usage,
                "--run and --model both given: one names a run folder, the other a model file; give one");
  }
  if (!arguments.model.empty() && !arguments.checkpoint.empty()) {
    throw Error(ExitCode::usage, "--checkpoint chooses within a run folder: it goes with --run, not with --model");
  }
  const WeightsChoice weights = parse_weights(arguments.weights);
  if (!arguments.model.empty() && weights != WeightsChoice::automatic) {
    throw Error(ExitCode::usage, "--weights chooses within a checkpoint: it goes with --run, not with --model");
  }
  std::error_code ignored;  // what cannot be looked at is reported when it is read
  if (fs::is_directory(arguments.model, ignored)) {
    throw Error(ExitCode::usage, fmt::format("--model {0} is a folder, but wants a model file (safetensors); for a run "
                                             "or checkpoint folder: --run {0}",
                                             arguments.model));
  }
  if (fs::is_regular_file(arguments.run, ignored)) {
    throw Error(ExitCode::usage,
                fmt::format("--run {0} is a file, but wants a run or checkpoint folder; for a model file: --model {0}",
                            arguments.run));
  }
  if (!arguments.model.empty()) return {"", arguments.model, ""};
  if (!arguments.run.empty()) return {arguments.run, "", arguments.checkpoint, weights};
  const std::string newest = newest_run();
  if (newest.empty()) {
    throw Error(ExitCode::no_input,
                "no run with a checkpoint under runs/: train one, or name one with --run DIR or --model FILE");
  }
  if (!arguments.quiet) write_message(fmt::format("using the newest run, {}\n", newest));
  return {newest, "", arguments.checkpoint, weights};
}

Config model_config(const Arguments& arguments, const ModelChoice& model) {
  Json base = model.folder.empty() ? Json(nullptr) : stored_config(model.folder);
  if (!base.is_null() && !arguments.data.empty()) forget_file_format(base);
  if (base.contains("run") && base["run"].is_object())
    base["run"].erase("device");  // this machine may not have the one that trained it
  Config config = resolve_config(arguments, base, model.folder).config;
  check_rules(config);
  return config;
}

void refuse_without_effect(const Arguments& arguments, const std::string& command,
                           const std::vector<std::string>& effective) {
  Config config;
  const KeyList keys = describe(config);
  for (const Override& override : arguments.overrides) {
    const bool has_effect = std::any_of(effective.begin(), effective.end(), [&](const std::string& name) {
      return name == override.key || (name.ends_with('.') && override.key.starts_with(name));
    });
    if (has_effect || keys.find(override.key) == nullptr) continue;  // what is no key is refused with its nearest one
    std::vector<std::string> used;
    used.reserve(effective.size());
    for (const std::string& name : effective) used.push_back(name.ends_with('.') ? name + "*" : name);
    throw Error(ExitCode::usage, fmt::format("{} {}: {} does not use that key, only {}", override.flag, override.key,
                                             command, fmt::join(used, ", ")));
  }
}

std::string fill_placeholders(const std::string& text, const Config& config) {
  Config copy = config;
  const KeyList keys = describe(copy);
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto end = text[i] == '{' ? text.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      filled += text[i];
      continue;
    }
    const std::string name = text.substr(i + 1, end - i - 1);
    const ConfigKey* key = keys.find(name);
    if (key == nullptr) {
      throw Error(
          ExitCode::usage,
          fmt::format("--out: \"{{{}}}\" is no config key; wanted {{section.key}}, such as {{run.seed}}", name));
    }
    filled += file_name_part(*key);
    i = end;
  }
  return filled;
}

}  // namespace chargpt
