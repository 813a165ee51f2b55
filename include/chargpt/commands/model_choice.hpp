#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/commands/request.hpp"

namespace chargpt {

/// A model file and what is known about where it came from.
struct ChosenModel {
  std::string file;
  std::string run_folder;            ///< empty for a lone file
  std::optional<std::int64_t> step;  ///< unknown for a lone file
};

/// Finds the model file that was meant. Errors: no_input when the folder or checkpoint is missing (naming those there
/// are), usage for a checkpoint name that is none.
ChosenModel choose_model(const ModelChoice& choice);

/// Every checkpoint of a run, in order of step, for the choice "all"; else the one that choose_model() finds. Errors as
/// there.
std::vector<ChosenModel> choose_models(const ModelChoice& choice);

}  // namespace chargpt
