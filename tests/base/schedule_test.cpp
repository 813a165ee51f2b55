#include "chargpt/base/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

// Tables worked out by hand for a top rate of 1 and a lowest one of 0.1.
struct Row {
  std::int64_t step;
  double rate;
};

ScheduleConfig schedule_of(ScheduleName name, PartOfRun warmup) {
  ScheduleConfig schedule;
  schedule.name = name;
  schedule.warmup = warmup;
  schedule.min_learning_rate = 0.1;
  schedule.decay = 4;
  schedule.step_size = 3;
  schedule.gamma = 0.5;
  return schedule;
}

double rate(const ScheduleConfig& schedule, std::int64_t step, std::int64_t total) {
  OptimizerConfig optimizer;
  optimizer.learning_rate = 1.0;
  return learning_rate(optimizer, schedule, step, total);
}

void expect_table(const ScheduleConfig& schedule, std::int64_t total, const std::vector<Row>& table) {
  for (const Row& row : table) {
    EXPECT_NEAR(rate(schedule, row.step, total), row.rate, 1e-12)
        << name(schedule.name) << ", warm-up " << schedule.warmup.text() << ", step " << row.step;
  }
}

// Of runs of 12 steps: the first step, the last of a warm-up of 4 and the one behind it, one on the way, the last, and
// two past the end.
TEST(Schedule, FollowsTheTablesWithAWarmUpOfFourSteps) {
  const auto check = [](ScheduleName name, const std::vector<Row>& rows) {
    std::vector<Row> table = {{0, 0.2}, {1, 0.4}, {3, 0.8}, {4, 1.0}};
    table.insert(table.end(), rows.begin(), rows.end());
    expect_table(schedule_of(name, 4), 12, table);
  };
  check(ScheduleName::constant, {{8, 1.0}, {11, 1.0}, {12, 1.0}, {50, 1.0}});
  check(ScheduleName::linear, {{8, 0.55}, {10, 0.325}, {11, 0.2125}, {12, 0.1}, {50, 0.1}});
  check(ScheduleName::cosine, {{6, 0.1 + 0.45 * (1 + std::sqrt(0.5))},
                               {8, 0.55},
                               {10, 0.1 + 0.45 * (1 - std::sqrt(0.5))},
                               {12, 0.1},
                               {50, 0.1}});
  check(ScheduleName::step, {{6, 1.0}, {7, 0.5}, {9, 0.5}, {10, 0.25}, {11, 0.25}, {12, 0.25}, {13, 0.125}, {50, 0.1}});
  check(ScheduleName::inverse_sqrt,
        {{8, std::sqrt(5.0 / 9)}, {11, std::sqrt(5.0 / 12)}, {12, std::sqrt(5.0 / 13)}, {19, 0.5}, {1000, 0.1}});
  check(ScheduleName::wsd, {{7, 1.0}, {8, 1.0}, {9, 0.775}, {10, 0.55}, {11, 0.325}, {12, 0.1}, {50, 0.1}});
}

TEST(Schedule, WithoutWarmUpBeginsAtTheTop) {
  expect_table(schedule_of(ScheduleName::constant, 0), 10, {{0, 1.0}, {9, 1.0}, {10, 1.0}});
  expect_table(schedule_of(ScheduleName::linear, 0), 10, {{0, 1.0}, {5, 0.55}, {9, 0.19}, {10, 0.1}});
  expect_table(schedule_of(ScheduleName::cosine, 0), 10, {{0, 1.0}, {5, 0.55}, {10, 0.1}});
  expect_table(schedule_of(ScheduleName::step, 0), 10, {{0, 1.0}, {2, 1.0}, {3, 0.5}, {9, 0.125}, {10, 0.125}});
  expect_table(schedule_of(ScheduleName::inverse_sqrt, 0), 10, {{0, 1.0}, {3, 0.5}, {8, 1.0 / 3}});
  expect_table(schedule_of(ScheduleName::wsd, 0), 10, {{0, 1.0}, {6, 1.0}, {8, 0.55}, {9, 0.325}, {10, 0.1}});
}

TEST(Schedule, IsAllWarmUpWhenThatFillsTheRun) {
  for (std::size_t i = 0; i < choice_names<ScheduleName>().size(); ++i) {
    ScheduleConfig schedule = schedule_of(static_cast<ScheduleName>(i), 10);
    schedule.decay = 0;
    expect_table(schedule, 10, {{0, 1.0 / 11}, {9, 10.0 / 11}});
    schedule.warmup = {100.0, true};
    expect_table(schedule, 10, {{0, 1.0 / 11}, {9, 10.0 / 11}});
    check_schedule(schedule, 10);
  }
}

TEST(Schedule, TakesPerCentOfTheRun) {
  ScheduleConfig schedule = schedule_of(ScheduleName::wsd, {5.0, true});
  schedule.decay = {20.0, true};
  expect_table(schedule, 200, {{0, 1.0 / 11}, {9, 10.0 / 11}, {10, 1.0}, {160, 1.0}, {180, 0.55}, {200, 0.1}});
  schedule.name = ScheduleName::step;
  schedule.step_size = {25.0, true};
  expect_table(schedule, 200, {{59, 1.0}, {60, 0.5}, {110, 0.25}});
}

TEST(Schedule, IsFiniteAndNeverAboveTheTopForEveryStepOfEveryRun) {
  for (std::size_t i = 0; i < choice_names<ScheduleName>().size(); ++i) {
    for (std::int64_t total = 1; total <= 12; ++total) {
      for (std::int64_t warmup = 0; warmup <= total; ++warmup) {
        for (std::int64_t decay = 0; decay <= total - warmup; ++decay) {
          ScheduleConfig schedule = schedule_of(static_cast<ScheduleName>(i), warmup);
          schedule.decay = decay;
          check_schedule(schedule, total);
          for (std::int64_t step = 0; step < total + 3; ++step) {
            const double now = rate(schedule, step, total);
            EXPECT_TRUE(std::isfinite(now) && now > 0.0 && now <= 1.0) << name(schedule.name) << " " << step;
          }
        }
      }
    }
  }
}

std::string refusal(const ScheduleConfig& schedule, std::int64_t total) {
  try {
    check_schedule(schedule, total);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Schedule, IsRefusedWhereItsPartsDoNotFit) {
  for (std::size_t i = 0; i < choice_names<ScheduleName>().size(); ++i) {
    const std::string message = refusal(schedule_of(static_cast<ScheduleName>(i), 11), 10);
    EXPECT_NE(message.find("schedule.warmup = 11"), std::string::npos) << message;
    EXPECT_NE(message.find("10 steps"), std::string::npos) << message;
  }
  ScheduleConfig wsd = schedule_of(ScheduleName::wsd, 7);
  EXPECT_NE(refusal(wsd, 10).find("schedule.warmup = 7 and schedule.decay = 4"), std::string::npos) << refusal(wsd, 10);
  wsd.warmup = 6;
  EXPECT_EQ(refusal(wsd, 10), "");
  ScheduleConfig step = schedule_of(ScheduleName::step, 0);
  step.step_size = {1.0, true};
  EXPECT_NE(refusal(step, 10).find("schedule.step_size = 1 % (0 steps)"), std::string::npos) << refusal(step, 10);
  EXPECT_EQ(refusal(step, 100), "");
}

}  // namespace
}  // namespace chargpt
