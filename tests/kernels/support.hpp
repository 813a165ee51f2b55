#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "chargpt/base/random.hpp"
#include "chargpt/kernels/dropout.hpp"

namespace chargpt {

/// Runs a check on every instruction set that this machine has, the scalar one included.
template <class Check>
void on_every_target(const Check& check) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// Numbers in [-1, 1), other ones for every seed.
inline std::vector<float> some_numbers(std::size_t count, std::uint64_t seed) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(2.0 * random_unit(seed, Purpose::evaluation, 0, i) - 1.0);
  }
  return numbers;
}

/// Expects `got` to be `truth` to `tolerance` times the truth's largest element.
inline void expect_near(const std::vector<float>& got, const std::vector<double>& truth, double tolerance) {
  ASSERT_EQ(got.size(), truth.size());
  double largest = 1e-30;
  for (const double x : truth) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got[i]), truth[i], tolerance * largest) << "element " << i;
  }
}

/// Of each column of a mask's row 0 where it is dropped, else what it is multiplied by.
inline void dropout_multipliers(const DropoutMask& mask, std::uint32_t row, std::size_t columns, float* out) {
  std::fill(out, out + columns, 1.0F);
  dropout_row(mask, row, columns, out, out);
}

}  // namespace chargpt
