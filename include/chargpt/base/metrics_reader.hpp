#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/json.hpp"

namespace chargpt {

// Reading metrics.jsonl (docs/metrics.md), which may have been cut anywhere by a kill, or be written at this moment.

/// Lines of a metrics file that are no records of ours.
struct ForeignLines {
  std::int64_t count = 0;
  std::int64_t first = 0;  ///< number of the first one, from 1; 0: there is none
};

/// Calls `take` for each record in order. A last line without its end is still being written, or torn: left out; other
/// lines that are no JSON object with an "event" are counted. Errors: no_input, io; bad_data for a record of a newer
/// version than 1.
ForeignLines read_records(const std::string& path, const std::function<void(const Json& record)>& take);

struct StepMetrics {
  std::int64_t step = 0;
  std::optional<double>
      loss;  ///< nats per character; nothing where it was not finite (or beyond 1e150), as the next two
  std::optional<double> learning_rate;
  std::optional<double> gradient_norm;
  double seconds = 0.0;
  bool skipped = false;
};

struct EvaluationMetrics {
  std::int64_t step = 0;
  double nats_per_char = 0.0;
};

struct SampleMetrics {
  std::int64_t step = 0;
  std::string text;
  std::string prompt;  ///< empty in older files
};

/// Why a process ended the run or interrupted it.
struct EndMetrics {
  std::int64_t step = 0;
  std::string stopped;  ///< "target_loss", "patience", "interrupted", "diverged" ...; empty: all steps were done
};

/// What is known of a run's course. Records of other events are left out.
struct RunMetrics {
  std::vector<StepMetrics> steps;
  std::vector<EvaluationMetrics> evaluations;
  std::vector<SampleMetrics> samples;
  std::optional<EndMetrics> end;  ///< the last one; a resume may have gone on behind it
  ForeignLines foreign;
};

/// Errors: as read_records.
RunMetrics read_metrics(const std::string& path);

/// Reads a metrics file that another process is writing, a part at a time.
class MetricsFollower {
 public:
  struct News {
    RunMetrics metrics;  ///< the whole records since the last call
    bool anew = false;   ///< the file has become shorter, since its run went on from a checkpoint: this is all of it
  };

  explicit MetricsFollower(std::string path) : path_(std::move(path)) {}
  /// Nothing new while there is no file. Error(bad_data) as read_records.
  News read();

 private:
  std::string path_;
  std::uint64_t read_ = 0;  ///< bytes
  std::int64_t lines_ = 0;
};

/// The mean of the first losses, later a running mean in which the newest one weighs 2 %: the loss that the terminal
/// shows.
class SmoothedLoss {
 public:
  /// The mean with this loss in it. A step without a loss, or that was skipped, changes nothing.
  std::optional<double> add(const StepMetrics& step);

 private:
  std::optional<double> mean_;
  std::int64_t count_ = 0;
};

/// Step and smoothed loss of each step that has a loss.
std::vector<std::pair<std::int64_t, double>> smoothed_losses(const std::vector<StepMetrics>& steps);

}  // namespace chargpt
