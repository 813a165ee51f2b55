#pragma once

#include <cstdint>
#include <span>

#include "chargpt/base/config.hpp"

namespace chargpt {

// Stages that turn the logits of the next position into probabilities, in the order in which next_probabilities()
// applies them. Each works in place. Adding a filter: one function here, one call there.

/// Softmax of values / temperature. temperature > 0; at 0 the largest value gets probability 1 (the first one of
/// several).
void apply_temperature(std::span<double> values, double temperature);

/// Keeps the k largest probabilities (of equal ones the first) and rescales them to sum to 1. Neutral: k <= 0 or k >=
/// size.
void apply_top_k(std::span<double> probabilities, std::int64_t k);

/// Keeps the smallest set of largest probabilities whose sum reaches p, at least one (Holtzman et al., "The curious
/// case of neural text degeneration", 2020, section 3.1). Neutral: p >= 1.
void apply_top_p(std::span<double> probabilities, double p);

/// The whole chain: temperature, top-k, top-p.
void next_probabilities(std::span<double> logits, const SampleConfig& settings);

/// The id whose stretch of the cumulated probabilities holds `unit` in [0, 1).
std::int32_t pick(std::span<const double> probabilities, double unit);

}  // namespace chargpt
