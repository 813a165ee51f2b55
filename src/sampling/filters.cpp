#include "chargpt/sampling/filters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace chargpt {
namespace {

/// Positions by falling probability, equal ones in their own order.
std::vector<std::size_t> by_probability(std::span<const double> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  return order;
}

/// Sets all but the first `count` of `order` to 0 and rescales.
void keep_first(std::span<double> probabilities, const std::vector<std::size_t>& order, std::size_t count) {
  for (std::size_t i = count; i < order.size(); ++i) probabilities[order[i]] = 0.0;
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& p : probabilities) p /= sum;
}

/// Keeps the first of `order` whose sum reaches p, at least one.
void keep_mass(std::span<double> probabilities, const std::vector<std::size_t>& order, double p) {
  std::size_t count = 0;
  double sum = 0.0;
  do {
    sum += probabilities[order[count++]];
  } while (sum < p && count < order.size());
  keep_first(probabilities, order, count);
}

}  // namespace

void apply_allowed(std::span<double> logits, const std::vector<bool>& allowed) {
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (!allowed[i]) logits[i] = -std::numeric_limits<double>::infinity();
  }
}

void apply_repetition_penalty(std::span<double> logits, std::span<const std::int32_t> counts, double penalty) {
  if (penalty == 1.0) return;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) logits[i] = logits[i] > 0.0 ? logits[i] / penalty : logits[i] * penalty;
  }
}

void apply_presence_penalty(std::span<double> logits, std::span<const std::int32_t> counts, double penalty) {
  if (penalty == 0.0) return;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) logits[i] -= penalty;
  }
}

void apply_frequency_penalty(std::span<double> logits, std::span<const std::int32_t> counts, double penalty) {
  if (penalty == 0.0) return;
  for (std::size_t i = 0; i < counts.size(); ++i) logits[i] -= penalty * counts[i];
}

void apply_temperature(std::span<double> values, double temperature) {
  const auto top = std::max_element(values.begin(), values.end());
  if (temperature == 0.0) {
    const auto best = top - values.begin();
    std::fill(values.begin(), values.end(), 0.0);
    values[static_cast<std::size_t>(best)] = 1.0;
    return;
  }
  const double largest = *top;
  double sum = 0.0;
  for (double& value : values) sum += value = std::exp((value - largest) / temperature);
  for (double& value : values) value /= sum;
}

void apply_top_k(std::span<double> probabilities, std::int64_t k) {
  if (k <= 0 || k >= static_cast<std::int64_t>(probabilities.size())) return;
  keep_first(probabilities, by_probability(probabilities), static_cast<std::size_t>(k));
}

void apply_top_p(std::span<double> probabilities, double p) {
  if (p >= 1.0) return;
  keep_mass(probabilities, by_probability(probabilities), p);
}

void apply_min_p(std::span<double> probabilities, double p) {
  if (p <= 0.0) return;
  const double least = p * *std::max_element(probabilities.begin(), probabilities.end());
  const auto order = by_probability(probabilities);
  const auto below =
      std::partition_point(order.begin(), order.end(), [&](auto i) { return probabilities[i] >= least; });
  keep_first(probabilities, order, static_cast<std::size_t>(below - order.begin()));
}

void apply_typical(std::span<double> probabilities, double p) {
  if (p >= 1.0) return;
  double entropy = 0.0;
  for (const double q : probabilities) entropy -= q > 0.0 ? q * std::log(q) : 0.0;
  std::vector<double> oddness;  // infinite for what is impossible
  for (const double q : probabilities) oddness.push_back(std::abs(-std::log(q) - entropy));
  auto order = by_probability(probabilities);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return oddness[a] < oddness[b]; });
  keep_mass(probabilities, order, p);
}

void next_probabilities(std::span<double> logits, const SampleConfig& settings, const std::vector<bool>& allowed,
                        std::span<const std::int32_t> counts) {
  apply_allowed(logits, allowed);
  apply_repetition_penalty(logits, counts, settings.repetition_penalty);
  apply_presence_penalty(logits, counts, settings.presence_penalty);
  apply_frequency_penalty(logits, counts, settings.frequency_penalty);
  apply_temperature(logits, settings.temperature);
  apply_top_k(logits, settings.top_k);
  apply_top_p(logits, settings.top_p);
  apply_min_p(logits, settings.min_p);
  apply_typical(logits, settings.typical);
}

bool has_penalties(const SampleConfig& settings) {
  return settings.repetition_penalty != 1.0 || settings.presence_penalty != 0.0 || settings.frequency_penalty != 0.0;
}

std::int32_t pick(std::span<const double> probabilities, double unit) {
  double sum = 0.0;
  std::size_t last = 0;  // rounding may leave the sum below `unit`: then the last possible id is meant
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] == 0.0) continue;
    last = i;
    sum += probabilities[i];
    if (unit < sum) break;
  }
  return static_cast<std::int32_t>(last);
}

}  // namespace chargpt
