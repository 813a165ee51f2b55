#include "chargpt/kernels/fma_peak.hpp"

#include <set>

#include "kernels/support.hpp"

namespace chargpt {
namespace {

TEST(FmaPeak, CountsTheOperationsOfEveryLaneAndChain) {
  std::set<double> lanes;
  on_every_target([&] {
    const double one = fused_multiply_adds(1);
    EXPECT_EQ(fused_multiply_adds(7), 7 * one);
    lanes.insert(one / 24);  // 12 chains, two operations a multiply-add
  });
  for (const double count : lanes) EXPECT_TRUE(count == 1 || count == 4 || count == 8 || count == 16) << count;
  EXPECT_TRUE(lanes.contains(1) || lanes.contains(4));  // the baseline of x86-64 is among the targets
}

}  // namespace
}  // namespace chargpt
