#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "chargpt/base/run_folder.hpp"
#include "chargpt/engine/checkpoint.hpp"
#include "chargpt/engine/evaluator.hpp"
#include "chargpt/engine/trainer.hpp"

namespace chargpt {

/// Whom a run tells what happens. All may be empty.
struct RunEvents {
  std::function<void(const StepReport&, double smoothed_loss)> step;
  std::function<void(std::int64_t step, const Evaluation&, bool best)> evaluation;
  std::function<void(std::int64_t step, const std::string& text)> sample;
  std::function<void(std::int64_t step)> checkpoint;
  std::function<void(const Json& record)> record;  ///< of metrics.jsonl, once it is there
  std::function<bool()> stopped;                   ///< asked often; true ends the run with its state saved
};

/// Why a run came to its end, or was interrupted by RunEvents::stopped.
enum class RunEnd { all_steps, target_loss, patience, interrupted };
std::string_view name(RunEnd value);

struct RunResult {
  std::int64_t step = 0;  ///< steps done
  RunEnd end = RunEnd::interrupted;
  RunProgress progress;
  std::optional<double> last_loss;  ///< validation, nats per character, after the last step

  bool finished() const { return end != RunEnd::interrupted; }
};

/// Trains from the trainer's current step to its last, or until train.target_loss or train.patience ends it: evaluates,
/// samples, saves and writes metrics.jsonl as the config says. When stopped, the unfinished step is dropped (it is a
/// function of the step number and will be recomputed identically) and the state saved. How often it evaluates, samples
/// or saves never changes the training. Acts whose interval is in seconds, counted from the call, are the only ones
/// that depend on time. Errors: diverged, io, cannot_create.
RunResult run_training(Trainer& trainer, const RunPaths& paths, const RunProgress& progress, const RunEvents& events);

}  // namespace chargpt
