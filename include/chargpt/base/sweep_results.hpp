#pragma once

#include <string>
#include <vector>

#include "chargpt/base/sweep_folder.hpp"

namespace chargpt {

/// One object a run, in order, all with the same members: "run" (its folder), "state" (finished, failed,
/// unfinished: begun and not ended, waiting), "exit_code" (null while it has not ended), a member for each key that
/// varies
/// ("model.width"), "step", "final_loss" and "best_loss" (validation, nats per character), "best_step",
/// "bits_per_char" (of best_loss), "parameters", "seconds" (in steps), "chars_per_second". What is not known is null.
Json sweep_rows(const SweepPaths& paths, const std::vector<SweepRun>& runs);

/// The rows that differ in the seed alone as one object: the keys of `varied` but run.seed, "n" (finished, with an
/// evaluation), "failed", and over those n of final_loss and best_loss "_mean", "_sd", "_low", "_high" (see
/// SampleSummary; null where n is too small), then "parameters" and the mean of "seconds". Groups are in the order of
/// their first rows.
Json group_over_seeds(const Json& rows, const std::vector<std::string>& varied);

/// The rows whose `column` is `value`, by number where both are numbers, else by text. Error(usage) for a column that
/// there is not, with the nearest.
Json rows_where(const Json& rows, const std::string& column, const std::string& value);

/// Sorts by a column, null last; equal ones stay in order. Error(usage) as above.
void sort_rows(Json& rows, const std::string& column, bool descending);

}  // namespace chargpt
