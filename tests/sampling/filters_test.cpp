#include "chargpt/sampling/filters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace chargpt {
namespace {

using Values = std::vector<double>;

void expect_near(const Values& got, const Values& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12) << "element " << i;
}

Values temperature(Values values, double t) { return apply_temperature(values, t), values; }
Values top_k(Values values, std::int64_t k) { return apply_top_k(values, k), values; }
Values top_p(Values values, double p) { return apply_top_p(values, p), values; }

TEST(Filters, TemperatureOneIsSoftmax) { expect_near(temperature({0, std::log(3.0)}, 1), {0.25, 0.75}); }
TEST(Filters, TemperatureDividesLogits) { expect_near(temperature({0, std::log(9.0)}, 2), {0.25, 0.75}); }
TEST(Filters, TemperatureSurvivesHugeLogits) { expect_near(temperature({1e300, -1e300, 1e300}, 0.01), {0.5, 0, 0.5}); }
TEST(Filters, TemperatureZeroIsGreedyFirstOfEquals) { expect_near(temperature({1, 7, 7, 2}, 0), {0, 1, 0, 0}); }
TEST(Filters, TopKKeepsTheLargest) { expect_near(top_k({0.1, 0.2, 0.3, 0.4}, 2), {0, 0, 3.0 / 7, 4.0 / 7}); }
TEST(Filters, TopKOfEqualsKeepsTheFirst) { expect_near(top_k({0.25, 0.25, 0.25, 0.25}, 1), {1, 0, 0, 0}); }
TEST(Filters, TopKZeroAndAllAreNeutral) {
  expect_near(top_k({0.25, 0.75}, 0), {0.25, 0.75});
  expect_near(top_k({0.25, 0.75}, 2), {0.25, 0.75});
}
TEST(Filters, TopPKeepsTheSmallestSufficientSet) {
  expect_near(top_p({0.125, 0.25, 0.5, 0.125}, 0.75), {0, 1.0 / 3, 2.0 / 3, 0});
  expect_near(top_p({0.125, 0.25, 0.5, 0.125}, 0.76), {1.0 / 7, 2.0 / 7, 4.0 / 7, 0});
}
TEST(Filters, TopPKeepsAtLeastOne) { expect_near(top_p({0.2, 0.8}, 0.0), {0, 1}); }
TEST(Filters, TopPOneIsNeutral) { expect_near(top_p({0.25, 0.75}, 1), {0.25, 0.75}); }

TEST(Filters, GreedyEqualsTopKOne) {
  const Values logits = {0.3, 2.0, -1.0, 2.0};
  expect_near(temperature(logits, 0), top_k(temperature(logits, 1), 1));
}

TEST(Filters, PickFollowsTheCumulatedProbabilities) {
  const Values probabilities = {0.0, 0.25, 0.0, 0.75, 0.0};
  EXPECT_EQ(pick(probabilities, 0.0), 1);
  EXPECT_EQ(pick(probabilities, 0.2499), 1);
  EXPECT_EQ(pick(probabilities, 0.25), 3);
  EXPECT_EQ(pick(probabilities, std::nextafter(1.0, 0.0)), 3);
}

TEST(Filters, PickNeverTakesAnImpossibleIdWhenRoundingLeavesAGap) {
  EXPECT_EQ(pick(Values{0.4, 0.5999999, 0.0}, std::nextafter(1.0, 0.0)), 1);
}

}  // namespace
}  // namespace chargpt
