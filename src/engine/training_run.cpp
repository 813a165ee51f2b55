#include "chargpt/engine/training_run.hpp"

#include <algorithm>
#include <chrono>
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

Json end_record(std::int64_t step, RunEnd end) {
  Json record;
  record["event"] = "end";
  record["step"] = step;
  record["stopped"] = end == RunEnd::all_steps ? Json(nullptr) : Json(name(end));
  return record;
}

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
    if (config_.sample_every.count > 0) sample_start();  // what is wrong is said now, not hours later
  }

  RunResult run() {
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

 private:
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
    std::optional<std::string> sample;
    if (evaluates_at(step)) evaluation = evaluate_now();
    if (due(config_.sample_every, step) && !stopped()) sample = draw_sample();
    if (stopped()) return false;
    const bool best = evaluation && note(step, *evaluation);
    if (sample) note(step, *sample);
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
    return evaluate(trainer_.passes(), corpus.tokenizer, corpus.val, windows, config.eval.batch, events_.stopped);
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

  void note(std::int64_t step, const std::string& text) {
    Json record;
    record["event"] = "sample";
    record["step"] = step;
    record["text"] = text;
    metrics_.append(record);
    if (events_.sample) events_.sample(step, text);
  }

  /// Error(usage, bad_data) when no sample could be drawn as the config says.
  StreamStart sample_start() const {
    const Config& config = trainer_.config();
    return start_stream(config.sample, trainer_.corpus().tokenizer, config.model.context, "sample.prompt",
                        [](const std::string&) {});
  }

  std::string draw_sample() {
    const EvaluationWeights weights(trainer_);
    const Tokenizer& tokenizer = trainer_.corpus().tokenizer;
    const SampleConfig& settings = trainer_.config().sample;
    std::string text = settings.prompt;
    generate(model_logits(trainer_.passes()), tokenizer, trainer_.config().model.context, {sample_start()},
             [&](std::size_t, std::int32_t id) {
               text += tokenizer.symbol(id);
               return !stopped();
             });
    return tokenizer.as_utf8(text);
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
    metrics_.append(end_record(result_.step, why));
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
