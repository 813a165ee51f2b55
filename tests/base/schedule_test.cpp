#include "chargpt/base/schedule.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

double rate(ScheduleName name, std::int64_t warmup, std::int64_t step, std::int64_t total) {
  OptimizerConfig optimizer;
  optimizer.learning_rate = 1.0;
  ScheduleConfig schedule;
  schedule.name = name;
  schedule.warmup = warmup;
  schedule.min_learning_rate = 0.1;
  return learning_rate(optimizer, schedule, step, total);
}

TEST(Schedule, ConstantStaysAtTheTopAfterWarmUp) {
  EXPECT_DOUBLE_EQ(rate(ScheduleName::constant, 4, 0, 10), 0.2);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::constant, 4, 3, 10), 0.8);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::constant, 4, 4, 10), 1.0);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::constant, 0, 0, 10), 1.0);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::constant, 4, 100, 10), 1.0);
}

TEST(Schedule, CosineFallsFromTheTopToTheLowestRate) {
  EXPECT_DOUBLE_EQ(rate(ScheduleName::cosine, 2, 2, 10), 1.0);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::cosine, 2, 6, 10), 0.55);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::cosine, 2, 10, 10), 0.1);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::cosine, 2, 50, 10), 0.1);
}

TEST(Schedule, StaysFiniteWhenWarmUpFillsTheRun) {
  EXPECT_DOUBLE_EQ(rate(ScheduleName::cosine, 10, 9, 10), 10.0 / 11.0);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::cosine, 10, 10, 10), 1.0);
  EXPECT_DOUBLE_EQ(rate(ScheduleName::cosine, 12, 11, 10), 12.0 / 13.0);
}

}  // namespace
}  // namespace chargpt
