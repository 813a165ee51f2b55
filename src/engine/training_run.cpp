#include "chargpt/engine/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "chargpt/engine/model_logits.hpp"
#include "chargpt/sampling/generate.hpp"

namespace chargpt {
namespace {

/// Weight of the newest loss in the smoothed one, once there were enough; before that it is the mean.
constexpr double kSmoothing = 0.02;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Json step_record(const StepReport& report) {
  Json record;
  record["event"] = "step";
  record["step"] = report.step;
  record["loss"] = report.loss;
  record["learning_rate"] = report.learning_rate;
  record["gradient_norm"] = report.gradient_norm;
  record["seconds"] = report.seconds;
  if (report.skipped) record["skipped"] = true;
  return record;
}

Json evaluation_record(std::int64_t step, const Evaluation& evaluation, EvalMode mode) {
  Json record;
  record["event"] = "evaluation";
  record["step"] = step;
  record["nats_per_char"] = evaluation.nats_per_char();
  record["characters"] = evaluation.characters;
  if (mode == EvalMode::random) record["standard_error"] = evaluation.standard_error();
  return record;
}

Json sample_record(std::int64_t step, const std::string& prompt, const std::string& text) {
  Json record;
  record["event"] = "sample";
  record["step"] = step;
  record["prompt"] = prompt;
  record["text"] = text;
  return record;
}

Json end_record(std::int64_t step, const Json& stopped) {
  Json record;
  record["event"] = "end";
  record["step"] = step;
  record["stopped"] = stopped;
  return record;
}

/// What the model made of a prompt: `text` begins with it.
struct Sample {
  std::string prompt;
  std::string text;
};

/// One run in progress: the loop below, and what it has to remember.
class TrainingRun {
 public:
  TrainingRun(Trainer& trainer, const RunPaths& paths, const RunProgress& progress, const RunEvents& events)
      : trainer_(trainer),
        config_(trainer.config().train),
        paths_(paths),
        events_(events),
        metrics_(paths.metrics(), trainer.steps_done(), events.record) {
    result_.progress = progress;
    if (config_.sample_every.count > 0) sample_starts();  // what is wrong is said now, not hours later
  }

  RunResult run() {
    try {
      return train();
    } catch (const Error& error) {
      if (error.code() == ExitCode::diverged) metrics_.append(end_record(trainer_.steps_done(), "diverged"));
      throw;
    }
  }

 private:
  RunResult train() {
    // A run that is resumed before its first step may have been evaluated there already: then it has a best step.
    const bool first = config_.eval_first && trainer_.steps_done() == 0 && !result_.progress.best_step;
    if ((result_.progress.acts_pending || first) && !act(trainer_.steps_done())) return stop(true);
    while (!end(trainer_.steps_done())) {
      const auto report = trainer_.step(events_.stopped);
      if (!report) return stop(false);
      record(*report);
      if (!act(report->step)) return stop(true);
    }
    return result(*end(trainer_.steps_done()));
  }

  /// Why the run is over, if it is.
  std::optional<RunEnd> end(std::int64_t step) const {
    const RunProgress& progress = result_.progress;
    if (step >= trainer_.total_steps()) return RunEnd::all_steps;
    if (config_.target_loss > 0.0 && progress.best_loss && *progress.best_loss <= config_.target_loss)
      return RunEnd::target_loss;
    if (config_.patience > 0 && progress.evaluations_since_best >= config_.patience) return RunEnd::patience;
    return std::nullopt;
  }
  bool due(const Interval& every, std::int64_t step) const {
    return step > 0 && (every.due(step, trainer_.windows(), config_.batch) || every.due(acted_before_, acted_));
  }
  bool evaluates_at(std::int64_t step) const {
    if (trainer_.corpus().val.documents() == 0) return false;
    return step == 0 ? config_.eval_first : due(config_.eval_every, step) || step == trainer_.total_steps();
  }
  bool stopped() const { return events_.stopped && events_.stopped(); }

  void record(const StepReport& report) {
    double& smoothed = result_.progress.smoothed_loss;
    const double weight = std::max(kSmoothing, 1.0 / static_cast<double>(report.step));
    if (!report.skipped) smoothed += weight * (report.loss - smoothed);
    metrics_.append(step_record(report));
    if (events_.step) events_.step(report, smoothed);
  }

  /// Evaluates, samples and saves where the step asks for it: all of it, or (stopped on the way: false) nothing, so
  /// that a resumed run can do all of it.
  bool act(std::int64_t step) {
    acted_before_ = std::exchange(acted_, seconds_since(start_));
    std::optional<Evaluation> evaluation;
    std::vector<Sample> samples;
    if (evaluates_at(step)) evaluation = evaluate_now();
    if (due(config_.sample_every, step) && !stopped()) samples = draw_samples();
    if (stopped()) return false;
    const bool best = evaluation && note(step, *evaluation);
    for (const Sample& sample : samples) note(step, sample);
    result_.progress.acts_pending = false;
    if (due(config_.save_every, step) || best || end(step)) save(step);
    return true;
  }

  Evaluation evaluate_now() {
    const EvaluationWeights weights(trainer_);
    const Config& config = trainer_.config();
    const Corpus& corpus = trainer_.corpus();
    const auto windows =
        EvaluationWindows(corpus.val, config.model.context, config.eval, static_cast<std::uint64_t>(config.run.seed),
                          static_cast<std::uint64_t>(trainer_.steps_done()));
    const Evaluation evaluation =
        evaluate(trainer_.passes(), corpus.tokenizer, corpus.val, windows, config.eval.batch, events_.stopped);
    if (std::isfinite(evaluation.nats)) return evaluation;
    throw diverged(fmt::format("the validation loss is {}", std::abs(evaluation.nats)));
  }

  /// Weights that are still finite, but of no use: whatever train.on_nonfinite says, no step will mend them.
  Error diverged(const std::string& why) const {
    return {ExitCode::diverged,
            fmt::format("diverged by step {}: {}; lower optimizer.learning_rate or set optimizer.clip",
                        trainer_.steps_done(), why)};
  }

  /// True when it is the best so far.
  bool note(std::int64_t step, const Evaluation& evaluation) {
    RunProgress& progress = result_.progress;
    const double loss = evaluation.nats_per_char();
    const bool best = !progress.best_loss || loss < *progress.best_loss;
    ++progress.evaluations_since_best;
    if (best) {
      progress.best_step = step;
      progress.best_loss = loss;
      progress.evaluations_since_best = 0;
    }
    result_.last_loss = loss;
    metrics_.append(evaluation_record(step, evaluation, trainer_.config().eval.mode));
    if (events_.evaluation) events_.evaluation(step, evaluation, best);
    return best;
  }

  void note(std::int64_t step, const Sample& sample) {
    metrics_.append(sample_record(step, sample.prompt, sample.text));
    if (events_.sample) events_.sample(step, sample.text);
  }

  /// Error(usage, bad_data) when no sample could be drawn as the config says.
  StreamStart sample_start(const std::string& prompt, const char* key) const {
    SampleConfig settings = trainer_.config().sample;
    settings.prompt = prompt;
    const bool marked = begin_marks(trainer_.config().data) != BeginMarks::none;
    return start_stream(
        settings, trainer_.corpus().tokenizer, trainer_.config().model.context, key, [](const std::string&) {}, marked);
  }

  std::vector<StreamStart> sample_starts() const {
    std::vector<StreamStart> starts;
    for (const std::string& prompt : config_.sample_prompts)
      starts.push_back(sample_start(prompt, "train.sample_prompts"));
    if (starts.empty()) starts.push_back(sample_start(trainer_.config().sample.prompt, "sample.prompt"));
    return starts;
  }

  std::vector<Sample> draw_samples() {
    const EvaluationWeights weights(trainer_);
    const Tokenizer& tokenizer = trainer_.corpus().tokenizer;
    const std::vector<StreamStart> starts = sample_starts();
    std::vector<Sample> samples;
    for (const StreamStart& start : starts)
      samples.push_back({tokenizer.as_utf8(start.settings.prompt), start.settings.prompt});
    const auto take = [&](std::size_t i, std::int32_t id) {
      samples[i].text += tokenizer.symbol(id);
      return !stopped();
    };
    try {
      generate(model_logits(trainer_.passes()), tokenizer, trainer_.config().model.context, starts, take);
    } catch (const Error& error) {
      throw diverged(error.what());
    }
    for (Sample& sample : samples) sample.text = tokenizer.as_utf8(sample.text);
    return samples;
  }

  void save(std::int64_t step) {
    save_checkpoint(paths_, trainer_, result_.progress);
    if (events_.checkpoint) events_.checkpoint(step);
  }

  RunResult stop(bool acts_pending) {
    result_.progress.acts_pending = acts_pending;
    save(trainer_.steps_done());
    return result(RunEnd::interrupted);
  }

  RunResult result(RunEnd why) {
    result_.step = trainer_.steps_done();
    result_.end = why;
    metrics_.append(end_record(result_.step, why == RunEnd::all_steps ? Json(nullptr) : Json(name(why))));
    return result_;
  }

  Trainer& trainer_;
  const TrainConfig& config_;
  const RunPaths& paths_;
  const RunEvents& events_;
  MetricsLog metrics_;
  RunResult result_;
  const Clock::time_point start_ = Clock::now();
  double acted_before_ = 0.0;  // seconds from the start to the act() before the last one
  double acted_ = 0.0;         // and to the last one
};

}  // namespace

std::string_view name(RunEnd value) {
  switch (value) {
    case RunEnd::all_steps:
      return "all_steps";
    case RunEnd::target_loss:
      return "target_loss";
    case RunEnd::patience:
      return "patience";
    case RunEnd::interrupted:
      return "interrupted";
  }
  return {};
}

RunResult run_training(Trainer& trainer, const RunPaths& paths, const RunProgress& progress, const RunEvents& events) {
  return TrainingRun(trainer, paths, progress, events).run();
}

}  // namespace chargpt
