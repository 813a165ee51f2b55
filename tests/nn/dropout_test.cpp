#include "chargpt/nn/dropout.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>

namespace chargpt {
namespace {

const DropoutMask kMask{0.4, 0xFEDCBA9876543210ULL, 4000000001U, 70};
const MaskRows kRows{1000, 5, 20};

TEST(Dropout, TensorOperationsDrawTheMaskOfTheKernel) {
  const torch::Tensor ones = torch::ones({3, 5, 100}, torch::kDouble);
  const torch::Tensor by_kernel = dropout(ones, kMask, kRows);
  const torch::Tensor by_tensors = dropout_multipliers(kMask, kRows, 15, 100, torch::kDouble);
  EXPECT_TRUE(by_kernel.view({15, 100}).equal(by_tensors));
}

TEST(Dropout, RowsFollowTheirLayout) {
  const torch::Tensor all = dropout_multipliers(kMask, {0, 1, 1}, 1100, 8, torch::kFloat);
  const torch::Tensor some = dropout(torch::ones({15, 8}), kMask, kRows);
  for (std::int64_t i = 0; i < 15; ++i) EXPECT_TRUE(some[i].equal(all[1000 + i / 5 * 20 + i % 5])) << "row " << i;
}

TEST(Dropout, BackwardDrawsTheSameMaskAgain) {
  torch::Tensor x = torch::randn({15, 30}, torch::TensorOptions(torch::kDouble).requires_grad(true));
  dropout(x, kMask, kRows).sum().backward();
  EXPECT_TRUE(x.grad().equal(dropout_multipliers(kMask, kRows, 15, 30, torch::kDouble)));
}

TEST(Dropout, AcceptsInputThatIsNotContiguous) {
  const torch::Tensor x = torch::randn({8, 15}).t();
  EXPECT_TRUE(dropout(x, kMask, kRows).equal(dropout(x.contiguous(), kMask, kRows)));
}

TEST(Dropout, AtZeroGivesItsInput) {
  const torch::Tensor x = torch::randn({2, 3});
  EXPECT_TRUE(dropout(x, {}, {}).is_same(x));
}

}  // namespace
}  // namespace chargpt
