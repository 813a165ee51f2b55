#pragma once

#include <cstdint>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// Trainable numbers of a model with `vocabulary` symbols. Exact for every config within the keys' ranges.
std::int64_t parameter_count(const ModelConfig& config, std::int64_t vocabulary);

}  // namespace chargpt
