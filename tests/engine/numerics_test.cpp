#include "chargpt/engine/numerics.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "chargpt/base/config.hpp"

namespace chargpt {
namespace {

TEST(Numerics, PassOnTheCpuAndCoverEveryAttentionPath) {
  std::string names;
  for (const Check& check : check_numerics(torch::kCPU)) {
    EXPECT_TRUE(check.passed()) << check.name << ": " << check.error;
    names += check.name + "\n";
  }
  for (const auto path : choice_names<AttentionPath>()) {
    EXPECT_NE(names.find("gradients, " + std::string(path)), std::string::npos) << names;
    EXPECT_NE(names.find("gradients, " + std::string(path) + ", as GPT-2, dropout"), std::string::npos) << names;
  }
}

TEST(Compare, MeasuresTheLargestDifferenceAgainstTheLargestValue) {
  const torch::Tensor wanted = torch::tensor({1.0, -4.0, 2.0}), got = torch::tensor({1.0, -4.0, 2.5});
  EXPECT_NEAR(compare("x", got, wanted, 0.1).error, 0.125, 1e-12);
  EXPECT_FALSE(compare("x", got, wanted, 0.1).passed());
  EXPECT_TRUE(compare("x", got, wanted, 0.2).passed());
}

TEST(Compare, ANumberThatIsNotFiniteFails) {
  const torch::Tensor wanted = torch::tensor({1.0, 2.0});
  EXPECT_FALSE(compare("x", torch::tensor({1.0, std::nan("")}), wanted, 1.0).passed());
  EXPECT_FALSE(compare("x", torch::tensor({1.0, HUGE_VAL}), torch::tensor({1.0, HUGE_VAL}), 1.0).passed());
}

}  // namespace
}  // namespace chargpt
