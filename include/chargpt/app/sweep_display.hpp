#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "chargpt/base/sweep_results.hpp"

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
  void clear();

 private:
  struct Active {
    MetricsFollower metrics;
    std::int64_t first_step;
    Clock::time_point since;
  };

  std::vector<std::string> table();
  std::string summary(double operations_in_progress) const;
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
