#pragma once

#include <cstdint>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// Learning rate of optimizer step `step` (from 0) of `total` steps. Let w be the steps of warm-up. During it, step <
/// w, the rate is learning_rate * (step + 1) / (w + 1). Then, with progress = (step - w) / (total - w) clamped to [0,
/// 1], top = learning_rate and low = min_learning_rate:
///   constant:     top
///   linear:       low + (top - low) * (1 - progress)
///   cosine:       low + (top - low) * (1 + cos(pi * progress)) / 2   (Loshchilov and Hutter, "SGDR", 2017, eq. 5)
///   step:         top * gamma^floor((step - w) / step_size), at least low
///   inverse_sqrt: top * sqrt((w + 1) / (step + 1)), at least low   (Vaswani et al., "Attention is all you need", 2017,
///                 eq. 3, with the top at the end of warm-up)
///   wsd:          top until `decay` steps before the end, then a line down to low at the end   (Hu et al., "MiniCPM",
///                 2024)
double learning_rate(const OptimizerConfig& optimizer, const ScheduleConfig& schedule, std::int64_t step,
                     std::int64_t total);

/// Error(usage) where the parts of the schedule do not fit into a run of `total` steps: warm-up, with wsd warm-up and
/// decay, longer than the run; a step_size of no step.
void check_schedule(const ScheduleConfig& schedule, std::int64_t total);

}  // namespace chargpt
