#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chargpt/base/config.hpp"

namespace chargpt {

// Stages that turn the logits of the next position into probabilities, in the order in which next_probabilities()
// applies them. Each works in place, and does nothing at its neutral value. Adding a filter: one function here, one
// call there, and its key in SampleConfig.

/// Logits of ids that are not allowed become -inf. Neutral: empty.
void apply_allowed(std::span<double> logits, const std::vector<bool>& allowed);

// `counts`: how often each id is among the recent ones.

/// Logits of recent ids are divided by the penalty where positive, multiplied where negative (Keskar et al., "CTRL",
/// 2019, section 4.1). penalty > 0. Neutral: 1.
void apply_repetition_penalty(std::span<double> logits, std::span<const std::int32_t> counts, double penalty);

/// The penalty is taken from the logit of each recent id. Neutral: 0.
void apply_presence_penalty(std::span<double> logits, std::span<const std::int32_t> counts, double penalty);

/// The penalty is taken from the logit of each recent id as often as it is recent. Neutral: 0.
void apply_frequency_penalty(std::span<double> logits, std::span<const std::int32_t> counts, double penalty);

/// Softmax of values / temperature. temperature > 0; at 0 the largest value gets probability 1 (the first one of
/// several).
void apply_temperature(std::span<double> values, double temperature);

/// Keeps the k largest probabilities (of equal ones the first) and rescales them to sum to 1. Neutral: k <= 0 or k >=
/// size.
void apply_top_k(std::span<double> probabilities, std::int64_t k);

/// Keeps the smallest set of largest probabilities whose sum reaches p, at least one (Holtzman et al., "The curious
/// case of neural text degeneration", 2020, section 3.1). Neutral: p >= 1.
void apply_top_p(std::span<double> probabilities, double p);

/// Keeps those of at least p times the largest (Nguyen et al., "Turning up the heat: min-p sampling", 2024). 0 <= p <=
/// 1. Neutral: 0.
void apply_min_p(std::span<double> probabilities, double p);

/// Keeps the smallest set of ids whose sum reaches p, at least one, taking those first whose -ln probability is nearest
/// to the entropy (Meister et al., "Locally typical sampling", 2023, section 4). Neutral: p >= 1.
void apply_typical(std::span<double> probabilities, double p);

/// The whole chain. `counts` may be empty where has_penalties() is false.
void next_probabilities(std::span<double> logits, const SampleConfig& settings, const std::vector<bool>& allowed = {},
                        std::span<const std::int32_t> counts = {});

/// Whether one of the three penalties is not neutral.
bool has_penalties(const SampleConfig& settings);

/// The id whose stretch of the cumulated probabilities holds `unit` in [0, 1).
std::int32_t pick(std::span<const double> probabilities, double unit);

}  // namespace chargpt
