#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "chargpt/engine/trainer.hpp"

namespace chargpt {

/// Shows how a training goes on stderr: one line rewritten in place on a terminal, else a plain line every `log_every`
/// steps.
class Progress {
 public:
  struct Plan {
    std::int64_t total_steps;
    std::int64_t chars_per_step;
    std::int64_t log_every;
    bool live;   ///< stderr is a terminal that may be written to
    bool quiet;  ///< show nothing
  };
  explicit Progress(Plan plan) : plan_(plan) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void step(const StepReport& report, double smoothed_loss);
  /// Takes the live line away, so that a whole line can be written.
  void clear();
  /// Characters trained on a second, evaluations and saves excluded.
  double chars_per_second() const;

 private:
  std::string line(const StepReport& report, double smoothed_loss) const;
  void draw(const std::string& line);

  Plan plan_;
  double seconds_ = 0.0;
  std::int64_t steps_ = 0;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_drawn_;
};

/// "1:05:09", "5:09" or "0:09".
std::string format_duration(double seconds);

/// "812", "95.3k", "1.24M".
std::string format_count(double count);

}  // namespace chargpt
