#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "chargpt/base/model_file.hpp"

namespace chargpt {

/// Which model is meant.
struct ModelChoice {
  std::string folder;      ///< a run folder or a checkpoint folder; or empty:
  std::string file;        ///< a model file
  std::string checkpoint;  ///< "best", "last" or a step, within a run folder; empty: best, or last without a best
};

/// A model file, read, and what is known about where it came from.
struct ChosenModel {
  ModelFile file;
  std::string run_folder;            ///< empty for a lone file
  std::optional<std::int64_t> step;  ///< unknown for a lone file
};

/// Finds and reads the model that is meant, old or new where a training replaces checkpoints meanwhile. Errors:
/// no_input when the folder or checkpoint is missing (naming those there are), usage for a checkpoint name that is
/// none, and those of ModelFile.
ChosenModel open_chosen_model(const ModelChoice& choice);

}  // namespace chargpt
