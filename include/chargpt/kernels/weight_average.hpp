#pragma once

#include <cstddef>

namespace chargpt {

/// average += (1 - decay) * (value - average), for `count` values: one step of an exponential moving average.
void update_average(const float* values, std::size_t count, float decay, float* average);

}  // namespace chargpt
