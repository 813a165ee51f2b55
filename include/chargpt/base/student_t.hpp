#pragma once

#include <cstdint>
#include <span>

namespace chargpt {

/// The value that |t| of Student's distribution with that many degrees of freedom (1 or more) stays below with
/// probability `inside`, in (0, 1): 0.95 and 2 degrees give 4.3027.
double student_t_bound(std::int64_t degrees, double inside);

/// Of n independent values. deviation: sample standard deviation, by n - 1. low, high: the 95 % confidence interval of
/// the mean for normal values, mean -+ t * deviation / sqrt(n). With one value the last three are not a number.
struct SampleSummary {
  std::int64_t n;
  double mean, deviation, low, high;
};

/// values: at least one.
SampleSummary summarize(std::span<const double> values);

}  // namespace chargpt
