#include "chargpt/kernels/instruction_set.hpp"

#include <string>

#include "kernels/support.hpp"

namespace chargpt {
namespace {

TEST(InstructionSet, IsTheOneThatIsDispatchedTo) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(std::string(kernel_instruction_set()), hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace chargpt
