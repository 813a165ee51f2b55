#include "chargpt/sampling/filters.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace

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
  const auto order = by_probability(probabilities);
  std::size_t count = 0;
  double sum = 0.0;
  do {
    sum += probabilities[order[count++]];
  } while (sum < p && count < order.size());
  keep_first(probabilities, order, count);
}

void next_probabilities(std::span<double> logits, const SampleConfig& settings) {
  apply_temperature(logits, settings.temperature);
  apply_top_k(logits, settings.top_k);
  apply_top_p(logits, settings.top_p);
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
