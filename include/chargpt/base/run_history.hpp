#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/chart.hpp"
#include "chargpt/base/metrics_reader.hpp"

namespace chargpt {

/// What a run folder tells of a training, finished or not.
struct RunHistory {
  std::string name;                        ///< how it is shown: the folder as given
  Json config;                             ///< the resolved config; null where it could not be read
  std::optional<std::int64_t> parameters;  ///< of the newest checkpoint's model
  RunMetrics metrics;
  std::vector<std::string> notes;  ///< what was left out, for a warning

  /// The value of a config key, null where there is none.
  Json key(const std::string& section, const std::string& name) const;
};

/// Run folders at or below a path, sorted by name: a folder with metrics or a config is one, and what lies in it is not
/// searched. At most 3 levels deep. Error(no_input) where there is no such folder or no run in it.
std::vector<std::string> find_runs(const std::string& path);

/// Errors: as read_records.
RunHistory read_run(const std::string& folder);

/// What the numbers of a run say. Losses in nats per character; nothing where there was no such record.
struct RunSummary {
  std::int64_t steps = 0;               ///< done
  std::optional<std::int64_t> planned;  ///< train.steps, where that says how long
  std::optional<double> training;       ///< last smoothed loss
  std::optional<double> validation;     ///< last one
  std::optional<double> best;           ///< lowest validation loss
  std::optional<std::int64_t> best_step;
  /// best_step where the validation loss has risen by 0.5 % or more since then while the smoothed training loss fell.
  std::optional<std::int64_t> overfitting_from;
  double seconds = 0.0;  ///< of all training steps; evaluations and saves not counted
  std::optional<double> chars_per_second;
  /// Why the last process ended: as in the record (see EndMetrics); nothing where it was killed, or still goes on.
  std::optional<std::string> stopped;
  std::int64_t skipped = 0;  ///< steps left out because a number was not finite
};

RunSummary summarize(const RunHistory& run);

/// The same as sentences, one fact each.
std::vector<std::string> in_words(const RunSummary& summary);

/// With the members' names and bits_per_char of the best; what there is not is null.
Json to_json(const RunSummary& summary);

/// Curves of runs: of one, loss (training smoothed, and validation) and learning rate; of several, training loss,
/// validation loss and learning rate. Charts without a point are left out.
std::vector<Chart> charts_of(const std::vector<RunHistory>& runs);

}  // namespace chargpt
