#include "chargpt/base/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

/// Independent, uniform in [0, 1): mean 1/2, variance 1/12.
std::vector<double> uniform(std::uint64_t seed, std::uint64_t count) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(random_unit(seed, Purpose::split, 0, i));
  return values;
}

TEST(BootstrapMean, OfIndependentValuesIsTheNormalInterval) {
  const auto values = uniform(1, 1000);
  const double half_width = 1.96 * std::sqrt(1.0 / 12 / 1000);
  const MeanInterval got = bootstrap_mean(values, 1, 7);
  EXPECT_NEAR(got.high - got.mean, half_width, 0.15 * half_width);
  EXPECT_NEAR(got.mean - got.low, half_width, 0.15 * half_width);
}

TEST(BootstrapMean, HoldsTheTruthAboutAsOftenAsItSays) {
  int held = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const MeanInterval got = bootstrap_mean(uniform(seed, 60), 1, seed);
    held += got.low <= 0.5 && 0.5 <= got.high ? 1 : 0;
  }
  EXPECT_GE(held, 88);  // 95 expected, standard deviation 2.2
}

TEST(BootstrapMean, BlocksSeeThatNeighboursAreAlike) {
  std::vector<double> values;  // every value ten times: a tenth of the information
  for (const double value : uniform(3, 400)) values.insert(values.end(), 10, value);
  const MeanInterval alone = bootstrap_mean(values, 1, 7), together = bootstrap_mean(values, 10, 7);
  EXPECT_NEAR((together.high - together.low) / (alone.high - alone.low), std::sqrt(10.0), 0.5);
}

TEST(BootstrapMean, IsAPureFunctionOfItsSeedAndOfOneValueThatValue) {
  const auto values = uniform(5, 50);
  EXPECT_EQ(bootstrap_mean(values, 3, 1).low, bootstrap_mean(values, 3, 1).low);
  const MeanInterval one = bootstrap_mean(std::vector<double>{2.5}, 3, 1);
  EXPECT_EQ(one.mean, 2.5);
  EXPECT_EQ(one.low, 2.5);
  EXPECT_EQ(one.high, 2.5);
}

}  // namespace
}  // namespace chargpt
