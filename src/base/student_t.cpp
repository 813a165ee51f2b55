#include "chargpt/base/student_t.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace chargpt {
namespace {

/// Probability that |t| is at most `t`: Abramowitz and Stegun, "Handbook of mathematical functions", 26.7.3 and 26.7.4,
/// with theta = atan(t / sqrt(degrees)).
double probability_inside(double t, std::int64_t degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cos2 = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(theta) : 1.0, sum = degrees == 1 ? 0.0 : term;
  for (std::int64_t k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= cos2 * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

}  // namespace

double student_t_bound(std::int64_t degrees, double inside) {
  double low = 0.0, high = 1.0;
  while (probability_inside(high, degrees) < inside) high *= 2;
  for (int halvings = 0; halvings < 100; ++halvings) {
    const double middle = low + (high - low) / 2;
    (probability_inside(middle, degrees) < inside ? low : high) = middle;
  }
  return high;
}

SampleSummary summarize(std::span<const double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const auto count = static_cast<double>(n);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (n == 1) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {n, mean, kNone, kNone, kNone};
  }
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  const double half = student_t_bound(n - 1, 0.95) * deviation / std::sqrt(count);
  return {n, mean, deviation, mean - half, mean + half};
}

}  // namespace chargpt
