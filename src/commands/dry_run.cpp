#include "chargpt/commands/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "chargpt/base/checkpoint_folder.hpp"
#include "chargpt/base/memory.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/commands/progress.hpp"
#include "chargpt/engine/evaluator.hpp"
#include "chargpt/engine/memory_estimate.hpp"

namespace chargpt {
namespace {

constexpr double kMiB = 1 << 20;

/// The median of some steps behind a first one, which takes memory that the others find. Nothing when stopped.
std::optional<double> step_seconds(Trainer& trainer, const std::function<bool()>& stopped) {
  constexpr std::size_t kSteps = 9;
  constexpr double kSeconds = 3.0;
  if (!trainer.step(stopped)) return std::nullopt;
  std::vector<double> seconds;
  for (double sum = 0.0; seconds.size() < kSteps && (sum < kSeconds || seconds.empty()); sum += seconds.back()) {
    const auto report = trainer.step(stopped);
    if (!report) return std::nullopt;
    seconds.push_back(report->seconds);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// Of one evaluation, from one pass of it.
double evaluation_seconds(Trainer& trainer) {
  const Config& config = trainer.config();
  const Corpus& corpus = trainer.corpus();
  const EvaluationWindows windows(corpus.val, config.model.context, config.eval, 0, 0);
  if (windows.empty()) return 0.0;
  const std::int64_t all = windows.size(), timed = std::min(all, config.eval.batch);
  const auto start = std::chrono::steady_clock::now();
  const auto after_one_pass = [passes = 0]() mutable { return passes++ > 0; };
  evaluate(trainer.passes(), corpus.tokenizer, corpus.val, windows, config.eval.batch, after_one_pass);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return seconds * static_cast<double>(all) / static_cast<double>(timed);
}

/// The one at the end included, unless it is one of the periodic ones.
double evaluations(const Trainer& trainer, double training_seconds) {
  const Config& config = trainer.config();
  const Interval& every = config.train.eval_every;
  if (trainer.corpus().val.documents() == 0) return 0.0;
  const auto steps = static_cast<double>(trainer.total_steps());
  const auto periods = [&]() -> double {
    switch (every.unit) {
      case IntervalUnit::steps:
        return steps;
      case IntervalUnit::epochs:
        return steps * static_cast<double>(config.train.batch) / static_cast<double>(trainer.windows());
      case IntervalUnit::seconds:
        return training_seconds;
    }
    return 0.0;
  };
  const double on_the_way = every.count == 0 ? 0.0 : std::floor(periods() / static_cast<double>(every.count));
  const bool last_is_one = every.count != 0 && every.due(trainer.total_steps(), trainer.windows(), config.train.batch);
  return on_the_way + (last_is_one ? 0.0 : 1.0) + (config.train.eval_first ? 1.0 : 0.0);
}

/// Bytes of the tensors of a checkpoint.
double checkpoint_bytes(Trainer& trainer) {
  const std::size_t copies = 1 + trainer.optimizer().state().size() + (trainer.average() ? 1 : 0);
  return static_cast<double>(copies) * sizeof(float) * static_cast<double>(trainer.model()->flat().size());
}

/// What can be said without a step. `available`: bytes of memory.
Json plan(Trainer& trainer, std::int64_t available) {
  const Config& config = trainer.config();
  const std::int64_t windows = config.train.windows_per_pass();
  const std::int64_t memory =
      training_memory(config, trainer.corpus().tokenizer.size(), trainer.model()->device(), windows);
  const double checkpoint = checkpoint_bytes(trainer) / kMiB;
  Json json;
  json["parameters"] = trainer.model()->flat().size();
  json["steps"] = trainer.total_steps();
  json["characters"] = trainer.total_steps() * config.train.batch * config.model.context;
  json["characters_per_epoch"] = trainer.windows() * config.model.context;
  json["micro_batch"] = windows;
  json["memory_mib"] = static_cast<double>(memory) / kMiB;
  json["free_mib"] = static_cast<double>(available) / kMiB;
  json["fits"] = memory <= available;
  json["checkpoint_mib"] = checkpoint;
  json["disk_mib"] = checkpoint * static_cast<double>(config.train.keep + 2);  // the best, and one being written
  return json;
}

/// Adds what some steps and a part of an evaluation tell.
void add_times(Trainer& trainer, double seconds_of_step, Json& json) {
  const TrainConfig& train = trainer.config().train;
  const double training = seconds_of_step * static_cast<double>(trainer.total_steps());
  const double of_evaluation = evaluation_seconds(trainer), count = evaluations(trainer, training);
  json["peak_rss_mib"] = static_cast<double>(peak_resident_memory()) / kMiB;
  json["step_seconds"] = seconds_of_step;
  json["chars_per_second"] = static_cast<double>(train.batch * trainer.config().model.context) / seconds_of_step;
  json["evaluations"] = count;
  json["evaluation_seconds"] = of_evaluation;
  json["seconds"] = training + count * of_evaluation;
}

std::string text_of(const Json& json) {
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  std::string text;
  const auto line = [&](const char* what, const std::string& value) { text += fmt::format("{:<22}{}\n", what, value); };
  line("parameters", json.at("parameters").dump());
  line("steps", fmt::format("{}, of {} windows a pass", json.at("steps").dump(), json.at("micro_batch").dump()));
  line("characters", fmt::format("{} in all, {} in an epoch", format_count(number("characters")),
                                 format_count(number("characters_per_epoch"))));
  line("memory", fmt::format("{:.1f} MiB for training (estimate), {:.0f} MiB are free", number("memory_mib"),
                             number("free_mib")));
  line("disk", fmt::format("{:.1f} MiB a checkpoint, up to {:.1f} MiB at a time", number("checkpoint_mib"),
                           number("disk_mib")));
  if (!json.at("fits").get<bool>()) {
    line("speed, time", "not measured, since the memory would not do");
    return text;
  }
  line("memory so far", fmt::format("{:.0f} MiB, of the whole process", number("peak_rss_mib")));
  line("speed",
       fmt::format("{} chars/s, {:.4f} s a step", format_count(number("chars_per_second")), number("step_seconds")));
  line("time", fmt::format("about {}, with {:.0f} evaluations of {:.1f} s", format_duration(number("seconds")),
                           number("evaluations"), number("evaluation_seconds")));
  return text;
}

}  // namespace

int dry_run(const Request& request, Trainer& trainer, std::int64_t available) {
  Json json = {{"v", 1}};
  json.update(plan(trainer, available));
  if (json["fits"].get<bool>()) {
    const auto seconds = step_seconds(trainer, [&] { return request.stop_signal->load() != 0; });
    if (!seconds) return 128 + request.stop_signal->load();
    add_times(trainer, *seconds, json);
  }
  write_output(request.json ? to_json_line(json) + "\n" : text_of(json));
  return 0;
}

}  // namespace chargpt
