#include "chargpt/base/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
}

std::string in_steps(const PartOfRun& part, std::int64_t total) {
  return part.per_cent ? fmt::format("{} ({} steps)", part.text(), part.steps(total)) : part.text();
}

}  // namespace

double learning_rate(const OptimizerConfig& optimizer, const ScheduleConfig& schedule, std::int64_t step,
                     std::int64_t total) {
  const double top = optimizer.learning_rate, low = schedule.min_learning_rate;
  const std::int64_t warmup = schedule.warmup.steps(total);
  if (step < warmup) return top * ratio(step + 1, warmup + 1);
  const double progress = std::min(1.0, ratio(step - warmup, total - warmup));
  switch (schedule.name) {
    case ScheduleName::constant:
      return top;
    case ScheduleName::linear:
      return low + (top - low) * (1.0 - progress);
    case ScheduleName::cosine:
      return low + (top - low) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
    case ScheduleName::step: {
      const std::int64_t size = std::max<std::int64_t>(1, schedule.step_size.steps(total));
      const std::int64_t falls = (step - warmup) / size;
      return std::max(low, top * std::pow(schedule.gamma, static_cast<double>(falls)));
    }
    case ScheduleName::inverse_sqrt:
      return std::max(low, top * std::sqrt(ratio(warmup + 1, step + 1)));
    case ScheduleName::wsd: {
      const std::int64_t left = std::max<std::int64_t>(0, total - step);
      return low + (top - low) * std::min(1.0, ratio(left, schedule.decay.steps(total)));
    }
  }
  return top;
}

void check_schedule(const ScheduleConfig& schedule, std::int64_t total) {
  const std::int64_t warmup = schedule.warmup.steps(total);
  if (warmup > total) {
    fail_usage(
        fmt::format("schedule.warmup = {} is longer than the run of {} steps: lower schedule.warmup or train longer",
                    in_steps(schedule.warmup, total), total));
  }
  if (schedule.name == ScheduleName::wsd && warmup + schedule.decay.steps(total) > total) {
    fail_usage(
        fmt::format("schedule.warmup = {} and schedule.decay = {} are together longer than the run of {} steps: lower "
                    "one of them or train longer",
                    in_steps(schedule.warmup, total), in_steps(schedule.decay, total), total));
  }
  if (schedule.name == ScheduleName::step && schedule.step_size.steps(total) < 1) {
    fail_usage(fmt::format("schedule.step_size = {} is less than one step of a run of {}: raise it to at least 1",
                           in_steps(schedule.step_size, total), total));
  }
}

}  // namespace chargpt
