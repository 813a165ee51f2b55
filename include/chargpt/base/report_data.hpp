#pragma once

#include <vector>

#include "chargpt/base/run_history.hpp"

namespace chargpt {

/// What the report's page shows, as its script reads it: {"program", "runs", "varied"}. A run has "name", "parameters",
/// "summary" and "words" (of run_history.hpp), "config" (values by "section.key"), "notes", "samples" (step, text, and
/// prompt where there are several; about 40, evenly over the run, fewer where there are many runs), and the curves
/// "training", "validation", "learning_rate", "gradient_norm" and "chars_per_second", each [[steps], [values]] thinned
/// to what a screen can show. "varied": the keys whose values differ between runs.
Json report_data(const std::vector<RunHistory>& runs);

}  // namespace chargpt
