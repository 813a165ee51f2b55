#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/model_file.hpp"

namespace chargpt {

/// Which of a checkpoint's weights: the average of them where there is one, else the raw ones; or one of the two.
enum class WeightsChoice { automatic, ema, raw };
std::string_view name(WeightsChoice value);

/// Where sample, eval and explain take their model from.
struct ModelChoice {
  std::string folder;      ///< a run folder or a checkpoint folder; or empty:
  std::string file;        ///< a model file
  std::string checkpoint;  ///< "best", "last" or a step, within a run folder, for eval also "all"; empty: best, or last
                           ///< without a best
  WeightsChoice weights = WeightsChoice::automatic;  ///< of a checkpoint; a file has but one kind
};

/// Where a model file lies and what is known about where it came from.
struct ChosenModel {
  std::string file;
  std::string run_folder;            ///< empty for a lone file
  std::optional<std::int64_t> step;  ///< unknown for a lone file
};

/// Finds the model file that was meant. Errors: no_input when the folder or checkpoint is missing (naming those there
/// are) or has no average of its weights where that is asked for, usage for a checkpoint name that is none.
ChosenModel choose_model(const ModelChoice& choice);

/// Every checkpoint of a run, in order of step. Error(no_input) when the folder is no run or has none.
std::vector<ChosenModel> every_checkpoint(const std::string& run_folder, WeightsChoice weights);

/// Reads a model that was chosen. A checkpoint's is also the one that its manifest tells of: not another's, put in its
/// place. Errors as ModelFile, and no_input for a checkpoint that has been removed since it was chosen.
ModelFile read_model(const ChosenModel& chosen);

/// A model that was chosen, and its file, read.
struct OpenedModel {
  ChosenModel chosen;
  ModelFile file;
};

/// Finds and reads the model that was meant: where a training removes checkpoints meanwhile, the old or the new one.
/// Errors as choose_model and ModelFile.
OpenedModel open_model(const ModelChoice& choice);

}  // namespace chargpt
