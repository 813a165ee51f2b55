#include "chargpt/base/student_t.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace chargpt {
namespace {

TEST(StudentT, IsTheDistributionWhereItHasAClosedForm) {
  // One degree is Cauchy's: P(|t| <= x) = 2 atan(x) / pi. Two: x / sqrt(2 + x^2).
  for (const double inside : {0.5, 0.9, 0.95, 0.999}) {
    EXPECT_NEAR(student_t_bound(1, inside), std::tan(inside * std::numbers::pi / 2), 1e-9 * student_t_bound(1, inside));
    EXPECT_NEAR(student_t_bound(2, inside), inside * std::sqrt(2 / (1 - inside * inside)), 1e-9);
  }
}

TEST(StudentT, IsThePrintedTable) {
  // Two-sided 95 % and 99 %, as every textbook prints them.
  const std::vector<std::pair<int, double>> table = {{3, 3.182}, {4, 2.776}, {5, 2.571}, {9, 2.262}, {30, 2.042}};
  for (const auto& [degrees, bound] : table) EXPECT_NEAR(student_t_bound(degrees, 0.95), bound, 5e-4) << degrees;
  EXPECT_NEAR(student_t_bound(5, 0.99), 4.032, 5e-4);
  EXPECT_NEAR(student_t_bound(10, 0.99), 3.169, 5e-4);
  EXPECT_NEAR(student_t_bound(9999, 0.95), 1.960, 5e-4);  // nearly normal
}

TEST(StudentT, SummarizesASample) {
  const std::vector<double> values = {1.0, 2.0, 4.0};  // mean 7/3, squares 1.7778 + 0.1111 + 2.7778 over 2
  const SampleSummary summary = summarize(values);
  EXPECT_EQ(summary.n, 3);
  EXPECT_NEAR(summary.mean, 7.0 / 3, 1e-12);
  EXPECT_NEAR(summary.deviation, std::sqrt(14.0 / 3 / 2), 1e-12);
  EXPECT_NEAR(summary.high - summary.mean, 4.302653 * summary.deviation / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(summary.low + summary.high, 2 * summary.mean, 1e-12);
}

TEST(StudentT, OneValueHasAMeanAndNoSpread) {
  const SampleSummary summary = summarize(std::vector<double>{2.5});
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.mean, 2.5);
  EXPECT_TRUE(std::isnan(summary.deviation) && std::isnan(summary.low) && std::isnan(summary.high));
}

}  // namespace
}  // namespace chargpt
