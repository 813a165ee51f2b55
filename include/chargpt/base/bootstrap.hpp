#pragma once

#include <cstdint>
#include <span>

namespace chargpt {

/// A mean with its 95 % confidence interval.
struct MeanInterval {
  double mean, low, high;
};

/// Percentile bootstrap over blocks (Efron and Tibshirani, "An introduction to the bootstrap", 1993, sections 8.6 and
/// 13.3): neighbours depend on one another, so consecutive values are drawn together, `block` at a time. 1,000
/// resamples, a pure function of `seed`. values: at least one; block >= 1.
MeanInterval bootstrap_mean(std::span<const double> values, std::int64_t block, std::uint64_t seed);

}  // namespace chargpt
