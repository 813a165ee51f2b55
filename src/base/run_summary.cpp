#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "chargpt/base/progress_line.hpp"
#include "chargpt/base/run_history.hpp"

namespace chargpt {
namespace {

constexpr double kRise = 1.005;  // of the validation loss, that is more than its noise

/// The smoothed loss at a step, or at the last one before it.
double loss_at(const std::vector<std::pair<std::int64_t, double>>& losses, std::int64_t step) {
  const auto after = std::find_if(losses.begin(), losses.end(), [&](const auto& loss) { return loss.first > step; });
  return after == losses.begin() ? after->second : std::prev(after)->second;
}

void judge_validation(const RunMetrics& metrics, RunSummary& summary) {
  if (metrics.evaluations.empty()) return;
  const auto by_loss = [](const auto& a, const auto& b) { return a.nats_per_char < b.nats_per_char; };
  const auto best = std::min_element(metrics.evaluations.begin(), metrics.evaluations.end(), by_loss);
  summary.best = best->nats_per_char;
  summary.best_step = best->step;
  summary.validation = metrics.evaluations.back().nats_per_char;
  const auto losses = smoothed_losses(metrics.steps);
  if (losses.empty() || *summary.validation < kRise * *summary.best) return;
  if (losses.back().second < loss_at(losses, best->step)) summary.overfitting_from = best->step;
}

std::optional<double> chars_per_second(const RunHistory& run, double seconds) {
  const Json batch = run.key("train", "batch"), context = run.key("model", "context");
  if (!batch.is_number() || !context.is_number() || seconds <= 1e-9) return std::nullopt;
  return batch.get<double>() * context.get<double>() * static_cast<double>(run.metrics.steps.size()) / seconds;
}

std::string course(const RunSummary& summary) {
  const std::string done = summary.planned ? fmt::format("{} of {} steps were done", summary.steps, *summary.planned)
                                           : fmt::format("{} steps were done", summary.steps);
  if (summary.stopped == "diverged") return done + "; then a loss or gradient was not finite: the run diverged.";
  if (summary.planned && summary.steps >= *summary.planned)
    return fmt::format("All {} steps were done.", summary.steps);
  if (!summary.stopped) return done + ": the run was killed, or is still going on.";
  if (summary.stopped->empty()) return done + ".";
  if (*summary.stopped == "interrupted") return done + "; then the run was interrupted, its state saved.";
  if (*summary.stopped == "target_loss") return done + ": the validation loss had reached train.target_loss.";
  if (*summary.stopped == "patience") return done + ": train.patience evaluations had brought no new best.";
  return fmt::format("{}; then it was stopped: {}.", done, *summary.stopped);
}

std::string of_validation(const RunSummary& summary) {
  return fmt::format(
      "The best validation loss is {:.4f} nats per character ({:.4f} bits), at step {}; the last is {:.4f}.",
      *summary.best, *summary.best / std::numbers::ln2, *summary.best_step, *summary.validation);
}

std::string of_overfitting(const RunSummary& summary) {
  if (!summary.overfitting_from) return "There is no sign of overfitting.";
  return fmt::format(
      "Overfitting from step {}: since then the validation loss has risen by {:.1f} % while the training loss fell.",
      *summary.overfitting_from, 100 * (*summary.validation / *summary.best - 1));
}

}  // namespace

RunSummary summarize(const RunHistory& run) {
  RunSummary summary;
  const auto& steps = run.metrics.steps;
  if (!steps.empty()) summary.steps = steps.back().step;
  const Json planned = run.key("train", "steps");
  if (planned.is_number_integer() && planned.get<std::int64_t>() > 0) summary.planned = planned.get<std::int64_t>();
  for (const StepMetrics& step : steps) {
    summary.seconds += step.seconds;
    summary.skipped += step.skipped ? 1 : 0;
  }
  const auto losses = smoothed_losses(steps);
  if (!losses.empty()) summary.training = losses.back().second;
  judge_validation(run.metrics, summary);
  const auto& end = run.metrics.end;
  if (end && end->step == summary.steps) summary.stopped = end->stopped;
  summary.chars_per_second = chars_per_second(run, summary.seconds);
  return summary;
}

std::vector<std::string> in_words(const RunSummary& summary) {
  std::vector<std::string> words = {course(summary)};
  if (summary.training)
    words.push_back(fmt::format("The training loss ended at {:.4f} (smoothed).", *summary.training));
  if (summary.best) {
    words.push_back(of_validation(summary));
    words.push_back(of_overfitting(summary));
  } else {
    words.emplace_back("There was no validation.");
  }
  if (summary.chars_per_second) {
    words.push_back(
        fmt::format("It trained on {} characters a second, over {} in its steps (evaluations and saves not counted).",
                    format_count(*summary.chars_per_second), format_duration(summary.seconds)));
  }
  if (summary.skipped > 0) {
    words.push_back(fmt::format("{} steps were skipped because a loss or gradient was not finite.", summary.skipped));
  }
  return words;
}

Json to_json(const RunSummary& summary) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  const auto bits = summary.best ? std::optional(*summary.best / std::numbers::ln2) : std::nullopt;
  return {{"steps", summary.steps},
          {"planned", or_null(summary.planned)},
          {"training", or_null(summary.training)},
          {"validation", or_null(summary.validation)},
          {"best", or_null(summary.best)},
          {"bits_per_char", or_null(bits)},
          {"best_step", or_null(summary.best_step)},
          {"overfitting_from", or_null(summary.overfitting_from)},
          {"seconds", summary.seconds},
          {"chars_per_second", or_null(summary.chars_per_second)},
          {"stopped", or_null(summary.stopped)},
          {"skipped", summary.skipped}};
}

}  // namespace chargpt
