#pragma once

#include <cstdint>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// Learning rate of optimizer step `step` (from 0) of `total` steps. During warm-up, step < warmup, it is
/// learning_rate * (step + 1) / (warmup + 1). Then, with progress = (step - warmup) / (total - warmup) clamped to [0,
/// 1]:
///   constant: learning_rate
///   cosine:   min + (learning_rate - min) * (1 + cos(pi * progress)) / 2   (Loshchilov and Hutter, "SGDR", 2017, eq.
///   5)
double learning_rate(const OptimizerConfig& optimizer, const ScheduleConfig& schedule, std::int64_t step,
                     std::int64_t total);

}  // namespace chargpt
