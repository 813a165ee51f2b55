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
Values min_p(Values values, double p) { return apply_min_p(values, p), values; }
Values typical(Values values, double p) { return apply_typical(values, p), values; }

/// A stage on logits as one on probabilities.
template <class Stage>
Values on_logits(Values values, const Stage& stage) {
  for (double& value : values) value = std::log(value);
  stage(values);
  apply_temperature(values, 1);
  return values;
}
Values allowed(const Values& values, const std::vector<bool>& which) {
  return on_logits(values, [&](Values& logits) { apply_allowed(logits, which); });
}
Values repetition(const Values& values, const std::vector<std::int32_t>& counts, double penalty) {
  return on_logits(values, [&](Values& logits) { apply_repetition_penalty(logits, counts, penalty); });
}
Values presence(const Values& values, const std::vector<std::int32_t>& counts, double penalty) {
  return on_logits(values, [&](Values& logits) { apply_presence_penalty(logits, counts, penalty); });
}
Values frequency(const Values& values, const std::vector<std::int32_t>& counts, double penalty) {
  return on_logits(values, [&](Values& logits) { apply_frequency_penalty(logits, counts, penalty); });
}

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

TEST(Filters, MinPKeepsWhatIsAtLeastThatShareOfTheLargest) {
  expect_near(min_p({0.5, 0.25, 0.125, 0.125}, 0.5), {2.0 / 3, 1.0 / 3, 0, 0});
  expect_near(min_p({0.25, 0.5, 0.25}, 1), {0, 1, 0});
}
TEST(Filters, MinPZeroIsNeutral) { expect_near(min_p({0.25, 0.75, 0}, 0), {0.25, 0.75, 0}); }
// Entropy of (1/2, 1/4, 1/8, 1/8) in bits: 1.75; surprises 1, 2, 3, 3 are 0.75, 0.25, 1.25, 1.25 away from it.
TEST(Filters, TypicalTakesTheMostTypicalSurpriseFirst) {
  expect_near(typical({0.5, 0.25, 0.125, 0.125}, 0.2), {0, 1, 0, 0});
  expect_near(typical({0.5, 0.25, 0.125, 0.125}, 0.3), {2.0 / 3, 1.0 / 3, 0, 0});
  expect_near(typical({0.5, 0.25, 0.125, 0.125}, 0.8), {4.0 / 7, 2.0 / 7, 1.0 / 7, 0});
}
TEST(Filters, TypicalNeverTakesTheImpossible) { expect_near(typical({0, 1, 0}, 0.9), {0, 1, 0}); }
TEST(Filters, TypicalOneIsNeutral) { expect_near(typical({0.25, 0.75}, 1), {0.25, 0.75}); }

TEST(Filters, WhatIsNotAllowedGetsNothing) {
  expect_near(allowed({0.5, 0.25, 0.25}, {true, false, true}), {2.0 / 3, 0, 1.0 / 3});
}
TEST(Filters, WithoutAListAllIsAllowed) { expect_near(allowed({0.25, 0.75}, {}), {0.25, 0.75}); }

// Logits ln 4, -ln 4 and 0.
TEST(Filters, RepetitionDividesPositiveLogitsAndMultipliesNegativeOnes) {
  expect_near(repetition({4, 0.25, 1}, {1, 7, 0}, 2), {2 / 3.0625, 0.0625 / 3.0625, 1 / 3.0625});
}
TEST(Filters, RepetitionOneIsNeutral) { expect_near(repetition({0.25, 0.75}, {1, 0}, 1), {0.25, 0.75}); }
TEST(Filters, PresenceIsTakenOnce) { expect_near(presence({0.5, 0.5}, {3, 0}, std::log(3.0)), {0.25, 0.75}); }
TEST(Filters, PresenceZeroIsNeutral) { expect_near(presence({0.25, 0.75}, {3, 0}, 0), {0.25, 0.75}); }
TEST(Filters, FrequencyIsTakenForEachTime) { expect_near(frequency({0.5, 0.5}, {2, 0}, std::log(3.0)), {0.1, 0.9}); }
TEST(Filters, FrequencyZeroIsNeutral) { expect_near(frequency({0.25, 0.75}, {3, 0}, 0), {0.25, 0.75}); }

TEST(Filters, GreedyEqualsTopKOne) {
  const Values logits = {0.3, 2.0, -1.0, 2.0};
  expect_near(temperature(logits, 0), top_k(temperature(logits, 1), 1));
}

/// All at once, in another implementation: stage after stage in the documented order, on pairs of id and value.
TEST(Filters, TheChainRunsInTheDocumentedOrder) {
  SampleConfig settings;
  settings.repetition_penalty = 2.0;
  settings.presence_penalty = 0.5;
  settings.frequency_penalty = 0.25;
  settings.temperature = 0.5;
  settings.top_k = 4;
  settings.top_p = 0.9;
  settings.min_p = 0.1;
  settings.typical = 0.7;
  const std::vector<std::int32_t> counts = {2, 0, 1, 0, 0, 0};
  Values values = {5.0, 1.2, -0.5, 1.0, 0.4, 3.0};
  next_probabilities(values, settings, {true, true, true, true, true, false}, counts);
  // Penalised: 5/2 - 0.5 - 2/4 = 1.5, 1.2, -0.5 * 2 - 0.5 - 0.25 = -1.75, 1.0, 0.4; the banned one is gone.
  // Weights exp(2 x): 20.086, 11.023, 0.030, 7.389, 2.226. top-k 4 drops the third: 40.724 in all.
  // top-p 0.9 of 40.724 = 36.65: the first three are 38.498. min-p 0.1 keeps those. Shares 0.5217, 0.2863, 0.1919:
  // entropy 1.0145; away from it 0.364, 0.236, 0.636. typical 0.7: 0.2863 + 0.5217 = 0.808.
  expect_near(values, {1 / (1 + std::exp(-0.6)), 1 / (1 + std::exp(0.6)), 0, 0, 0, 0});
}

TEST(Filters, WhateverMayBeSetLeavesProbabilities) {
  Config config;
  const Range range = describe(config).find("sample.repetition_penalty")->range;
  for (const double penalty : {range.low, range.high}) {
    config.sample.repetition_penalty = penalty;
    config.sample.temperature = 1e-300;
    Values values = {3e38, -3e38, 0};  // as large as logits can be
    next_probabilities(values, config.sample, {}, std::vector<std::int32_t>{1, 1, 1});
    expect_near(values, {1, 0, 0});
  }
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
