#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "chargpt/base/run_folder.hpp"
#include "chargpt/engine/trainer.hpp"

namespace chargpt {

/// What a run carries from step to step besides weights and moments.
struct RunProgress {
  std::optional<std::int64_t> best_step;  ///< with the lowest validation loss so far
  std::optional<double> best_loss;        ///< nats per character
  std::int64_t evaluations_since_best = 0;
  double smoothed_loss = 0.0;  ///< for the display
  bool acts_pending = false;   ///< stopped after the step but before its evaluation and sample
};

/// Writes the trainer's weights, their average, the optimizer's state and the manifest as a checkpoint of its current
/// step, then removes old ones (train.keep). Errors: io, cannot_create, and diverged where one of these numbers is not
/// finite; older checkpoints are untouched then.
void save_checkpoint(const RunPaths& paths, Trainer& trainer, const RunProgress& progress);

/// What may differ from the checkpoint's data on a resume.
enum class DataChange { refused, allowed };

/// Puts a fresh trainer into the state of the newest sound checkpoint. `warn` is told of every unsound one that is
/// passed over, and of data that differs where that is allowed. Nothing if the run has no checkpoint. Errors:
/// unusable_model when there are checkpoints and none is sound; bad_data when vocabulary or data differ from the
/// checkpoint's, usage when the model does.
std::optional<RunProgress> restore_checkpoint(const RunPaths& paths, Trainer& trainer,
                                              const std::function<void(const std::string&)>& warn,
                                              DataChange data_change = DataChange::refused);

}  // namespace chargpt
