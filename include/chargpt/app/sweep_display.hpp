#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/metrics_reader.hpp"
#include "chargpt/base/sweep_folder.hpp"

namespace chargpt {

/// What a sweep says on stderr: a line for each run that ends and, on a terminal, below them a live table of the runs
/// in progress (step, loss, best, time left) and of the whole.
class SweepDisplay {
 public:
  using Clock = std::chrono::steady_clock;
  struct Style {
    bool live, quiet;
  };

  SweepDisplay(SweepPaths paths, const std::vector<SweepRun>& runs, Style style);

  void skip(std::size_t run);                           ///< it had ended before
  void begin(std::size_t run);                          ///< it is started, or goes on
  void leave(std::size_t run);                          ///< it is no longer in progress, and has not ended
  void end(std::size_t run, const std::string& state);  ///< "[3/12] NAME: STATE", with its losses and time
  void say(const std::string& line);                    ///< above the table
  void refresh();                                       ///< draws the table when it is time to
  void clear();                                         ///< takes the table away

 private:
  /// How far a run is. Losses in nats per character.
  struct Standing {
    std::int64_t step = 0;
    SmoothedLoss smoothed;
    std::optional<double> loss;  ///< of training, smoothed
    std::optional<double> last, best;
    std::int64_t best_step = 0;
  };
  struct Active {
    MetricsFollower metrics;
    Standing standing;
    std::int64_t first_step;  ///< where it stood when it was started
    Clock::time_point since;
  };

  static void follow(Active& active);
  std::vector<std::string> row(std::size_t run, const Active& active) const;
  std::vector<std::string> table();
  std::string summary(double done, double done_here) const;  ///< operations, those of this process apart
  std::string take_away();                                   ///< what erases the table
  void count(std::size_t run);

  SweepPaths paths_;
  const std::vector<SweepRun>& runs_;
  Style style_;
  std::map<std::size_t, Active> active_;
  std::size_t ended_ = 0;
  double all_operations_ = 0, ended_operations_ = 0, skipped_operations_ = 0;
  Clock::time_point since_ = Clock::now(), drawn_;
  std::size_t drawn_lines_ = 0;
};

}  // namespace chargpt
