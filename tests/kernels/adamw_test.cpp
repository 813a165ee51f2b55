#include "chargpt/kernels/adamw.hpp"

#include "kernels/support.hpp"

namespace chargpt {
namespace {

TEST(AdamW, FollowsTheAlgorithm) {
  on_every_target([] {
    for (const std::size_t count : {1, 15, 64, 77}) {
      const auto g = some_numbers(count, 1), before = some_numbers(count, 2), m0 = some_numbers(count, 3);
      auto v0 = some_numbers(count, 4);
      for (float& v : v0) v = std::abs(v);
      const AdamWStep step{0.01F, 0.2F, 0.001F, 1e-3F, 0.3F, 1.0F - 0.512F, 0.002997001F, 0.5F};
      std::vector<double> values, first, second;
      for (std::size_t i = 0; i < count; ++i) {
        const double x = 0.5 * static_cast<double>(g[i]);
        first.push_back(0.8 * static_cast<double>(m0[i]) + 0.2 * x);
        second.push_back(0.999 * static_cast<double>(v0[i]) + 0.001 * x * x);
        const double m_hat = first[i] / (1 - std::pow(0.8, 3)), v_hat = second[i] / (1 - std::pow(0.999, 3));
        const auto value = static_cast<double>(before[i]);
        values.push_back(value - 0.01 * (m_hat / (std::sqrt(v_hat) + 1e-3) + 0.3 * value));
      }
      std::vector<float> got = before, m = m0, v = v0;
      adamw(step, g.data(), count, got.data(), m.data(), v.data());
      expect_near(got, values, 1e-6);
      expect_near(m, first, 1e-6);
      expect_near(v, second, 1e-6);
    }
  });
}

TEST(SumOfSquares, IsExactEnoughForAMillionNumbers) {
  on_every_target([] {
    for (const std::size_t count : {0, 1, 31, 5000, 1000003}) {
      const auto numbers = some_numbers(count, 1);
      double truth = 0.0;
      for (const float x : numbers) truth += static_cast<double>(x) * static_cast<double>(x);
      EXPECT_NEAR(sum_of_squares(numbers.data(), count), truth, 1e-6 * truth);
    }
  });
}

}  // namespace
}  // namespace chargpt
