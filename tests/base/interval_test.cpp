#include "chargpt/base/interval.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chargpt {
namespace {

constexpr auto kEpochs = IntervalUnit::epochs, kSeconds = IntervalUnit::seconds;

TEST(Interval, ReadsWhatItWrites) {
  for (const Interval interval : {Interval(0), Interval(1), Interval(250), Interval(1, kEpochs), Interval(12, kEpochs),
                                  Interval(1, kSeconds), Interval(90, kSeconds)}) {
    EXPECT_EQ(Interval::parse(interval.text()), interval) << interval.text();
  }
  EXPECT_EQ(Interval::parse("250"), Interval(250));
  EXPECT_EQ(Interval(1, kEpochs).text(), "1 epoch");
  EXPECT_EQ(Interval(2, kEpochs).text(), "2 epochs");
  EXPECT_EQ(Interval::parse("10 minutes"), Interval(600, kSeconds));
  EXPECT_EQ(Interval::parse("1 hour"), Interval(3600, kSeconds));
}

TEST(Interval, RefusesOtherTexts) {
  for (const char* text : {"", "epoch", "1epoch", "1  epoch", "1 epochss", "1 epoch ", " 1 epoch", "1.5 epochs",
                           "1 day", "9223372036854775807 hours"}) {
    EXPECT_FALSE(Interval::parse(text)) << text;
  }
}

std::vector<std::int64_t> due_steps(const Interval& interval, std::int64_t windows, std::int64_t batch) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= 12; ++step) {
    if (interval.due(step, windows, batch)) steps.push_back(step);
  }
  return steps;
}

TEST(Interval, StepsComeRoundWhateverAnEpochIs) {
  EXPECT_EQ(due_steps(5, 7, 3), (std::vector<std::int64_t>{5, 10}));
  EXPECT_TRUE(due_steps(0, 7, 3).empty());
  EXPECT_TRUE(due_steps({0, kEpochs}, 7, 3).empty());
}

TEST(Interval, AnEpochEndsWithTheStepThatTakesItsLastWindow) {
  EXPECT_EQ(due_steps({1, kEpochs}, 8, 2), (std::vector<std::int64_t>{4, 8, 12}));
  EXPECT_EQ(due_steps({2, kEpochs}, 8, 2), (std::vector<std::int64_t>{8}));
  EXPECT_EQ(due_steps({1, kEpochs}, 7, 3), (std::vector<std::int64_t>{3, 5, 7, 10, 12}));  // 9, 15, 21, 30, 36 windows
  EXPECT_EQ(due_steps({5, kEpochs}, 2, 4), (std::vector<std::int64_t>{3, 5, 8, 10}));      // batches of two epochs
}

TEST(Interval, SecondsComeRoundByTheClockAndNeverByTheStep) {
  const Interval ten(10, kSeconds);
  EXPECT_FALSE(ten.due(0.0, 9.9));
  EXPECT_TRUE(ten.due(9.9, 10.0));
  EXPECT_FALSE(ten.due(10.0, 19.9));
  EXPECT_TRUE(ten.due(19.9, 45.0));
  EXPECT_FALSE(Interval(0, kSeconds).due(0.0, 100.0));
  EXPECT_FALSE(Interval(1).due(0.0, 100.0));
  EXPECT_TRUE(due_steps(ten, 1, 10).empty());
}

}  // namespace
}  // namespace chargpt
