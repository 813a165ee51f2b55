#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace chargpt {

/// Says when a training has to stop: at a signal, or in time to have saved before a deadline.
class StopRule {
 public:
  using Clock = std::chrono::steady_clock;
  StopRule(const std::atomic<int>& signal, std::optional<Clock::time_point> deadline)
      : signal_(signal), deadline_(deadline) {}

  /// To be asked as often as the work can be stopped. The longest time between two questions, be it a pass, an
  /// evaluation or a save, is what must still fit before the deadline, twice. Once true, it stays so.
  bool stopped();

 private:
  const std::atomic<int>& signal_;
  std::optional<Clock::time_point> deadline_;
  Clock::time_point last_asked_ = Clock::now();
  Clock::duration longest_ = std::chrono::milliseconds(250);  // before anything was measured
};

}  // namespace chargpt
