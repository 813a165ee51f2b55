#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "chargpt/base/progress_line.hpp"
#include "chargpt/engine/trainer.hpp"

namespace chargpt {

/// Shows how a training goes on stderr: one line rewritten in place on a terminal, else a plain line every `log_every`
/// steps. The cursor is never hidden and the line ends with this object, so that no way out leaves a terminal changed.
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
  /// The last validation loss, nats per character, to be shown from now on.
  void validation(double loss) { validation_ = loss; }
  /// Takes the live line away, so that a whole line can be written.
  void clear();
  /// Characters trained on a second, evaluations, saves and the first step of this process (start-up) excluded.
  double chars_per_second() const;

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_per_step() const;
  ProgressState state(const StepReport& report, double smoothed_loss) const;
  void draw(const std::string& line);

  Plan plan_;
  double first_seconds_ = 0.0;  ///< of the first step
  double later_seconds_ = 0.0;  ///< of all steps behind it
  std::int64_t steps_ = 0;
  std::optional<double> validation_;
  bool drawn_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_drawn_;
};

}  // namespace chargpt
