#include "chargpt/base/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace chargpt {

double learning_rate(const OptimizerConfig& optimizer, const ScheduleConfig& schedule, std::int64_t step,
                     std::int64_t total) {
  const double top = optimizer.learning_rate;
  if (step < schedule.warmup) return top * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup + 1);
  const double span = static_cast<double>(std::max<std::int64_t>(1, total - schedule.warmup));
  const double progress = std::min(1.0, static_cast<double>(step - schedule.warmup) / span);
  const double low = schedule.min_learning_rate;
  switch (schedule.name) {
    case ScheduleName::constant:
      return top;
    case ScheduleName::cosine:
      return low + (top - low) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  }
  return top;
}

}  // namespace chargpt
