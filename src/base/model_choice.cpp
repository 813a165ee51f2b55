#include "chargpt/base/model_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "chargpt/base/run_folder.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

std::int64_t parse_step(const std::string& text) {
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error == std::errc() && end == text.data() + text.size() && step >= 0) return step;
  throw Error(ExitCode::usage,
              fmt::format("--checkpoint: got \"{}\", wanted best, last or the number of a step", text));
}

/// The steps of a run's checkpoints, at least one.
std::vector<std::int64_t> checkpoint_steps(const RunPaths& paths) {
  if (!is_run_folder(paths.root)) {
    throw Error(ExitCode::no_input,
                fmt::format("{} is no run folder (no config.json) and no checkpoint (no manifest.json)", paths.root));
  }
  auto steps = list_checkpoints(paths.checkpoints());
  if (!steps.empty()) return steps;
  throw Error(ExitCode::no_input, fmt::format("{} has no checkpoint yet; train it first", paths.root));
}

/// Whether a checkpoint was written with an average of the weights, be the file there or lost.
bool has_average(const std::string& checkpoint) {
  try {
    return read_manifest(checkpoint).files.contains(kAverageFileName);
  } catch (const Error&) {  // is told of when the model is read
    return fs::exists(checkpoint + "/" + kAverageFileName);
  }
}

/// The file of a checkpoint that holds the weights that are meant.
std::string weights_file(const std::string& checkpoint, WeightsChoice weights) {
  std::string average = checkpoint + "/" + kAverageFileName, raw = checkpoint + "/" + kModelFileName;
  switch (weights) {
    case WeightsChoice::automatic:
      return has_average(checkpoint) ? average : raw;
    case WeightsChoice::ema:
      if (has_average(checkpoint) || !fs::exists(raw)) return average;
      throw Error(ExitCode::no_input,
                  fmt::format("{} holds no average of the weights (train.ema was 0); use --weights raw", checkpoint));
    case WeightsChoice::raw:
      return raw;
  }
  return raw;
}

/// Where a sound checkpoint is to be found instead of one that can't be used, as words that end a message.
std::string advice(const RunPaths& paths, std::int64_t damaged) {
  auto steps = list_checkpoints(paths.checkpoints());
  std::reverse(steps.begin(), steps.end());
  for (const std::int64_t step : steps) {
    if (step == damaged) continue;
    try {
      verify_checkpoint(paths.checkpoint(step));
      return fmt::format("; the checkpoint of step {} is sound: --checkpoint {}", step, step);
    } catch (const Error&) {  // no better than the other
    }
  }
  return "; no other checkpoint of this run is sound";
}

ChosenModel checkpoint_model(const RunPaths& paths, std::int64_t step, WeightsChoice weights) {
  return {weights_file(paths.checkpoint(step), weights), paths.root, step};
}

std::int64_t choose_step(const RunPaths& paths, const std::string& wanted) {
  const auto steps = checkpoint_steps(paths);
  const auto best = read_best(paths.checkpoints());
  if (wanted == "last" || (wanted.empty() && !best)) return steps.back();
  if (wanted == "best" && !best) {
    throw Error(ExitCode::no_input,
                fmt::format("{} has no best checkpoint: it was not evaluated; use --checkpoint last", paths.root));
  }
  const bool is_best = wanted.empty() || wanted == "best";
  const std::int64_t step = is_best ? *best : parse_step(wanted);
  if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
    throw Error(ExitCode::no_input, fmt::format("{} has no checkpoint of step {}{}; it has {}", paths.root, step,
                                                is_best ? ", which is its best" : "", fmt::join(steps, ", ")));
  }
  return step;
}

}  // namespace

std::string_view name(WeightsChoice value) {
  switch (value) {
    case WeightsChoice::automatic:
      return "auto";
    case WeightsChoice::ema:
      return "ema";
    case WeightsChoice::raw:
      return "raw";
  }
  return {};
}

ChosenModel choose_model(const ModelChoice& choice) {
  if (!choice.file.empty()) return {choice.file, "", std::nullopt};
  const std::string& folder = choice.folder;
  if (fs::exists(folder + "/manifest.json")) {
    const Manifest manifest = verify_checkpoint(folder);
    return {weights_file(folder, choice.weights), fs::path(folder).parent_path().parent_path().string(), manifest.step};
  }
  const RunPaths paths(folder);
  return checkpoint_model(paths, choose_step(paths, choice.checkpoint), choice.weights);
}

std::vector<ChosenModel> every_checkpoint(const std::string& run_folder, WeightsChoice weights) {
  const RunPaths paths(run_folder);
  std::vector<ChosenModel> models;
  for (const std::int64_t step : checkpoint_steps(paths)) models.push_back(checkpoint_model(paths, step, weights));
  return models;
}

ModelFile read_model(const ChosenModel& chosen) {
  if (!chosen.step) return ModelFile(chosen.file);
  const std::string folder = fs::path(chosen.file).parent_path().string();
  try {
    verify_checkpoint_file(folder, fs::path(chosen.file).filename().string());
    return ModelFile(chosen.file);
  } catch (const Error& error) {
    if (error.code() != ExitCode::unusable_model) throw;
    // Removed since it was chosen, which is no damage: to be chosen again.
    if (!fs::exists(folder)) throw Error(ExitCode::no_input, error.what());
    throw Error(error.code(), error.what() + advice(RunPaths(chosen.run_folder), *chosen.step));
  }
}

OpenedModel open_model(const ModelChoice& choice) {
  constexpr int kAttempts = 20;  // a checkpoint may be removed between the choice and the reading
  for (int attempt = 1;; ++attempt) {
    try {
      ChosenModel chosen = choose_model(choice);
      ModelFile file = read_model(chosen);
      return {std::move(chosen), std::move(file)};
    } catch (const Error& error) {
      if (error.code() != ExitCode::no_input || attempt == kAttempts) throw;
    }
  }
}

}  // namespace chargpt
