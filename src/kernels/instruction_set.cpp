#include "chargpt/kernels/instruction_set.hpp"

#include "chargpt/kernels/bf16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/instruction_set.cpp"  // relative to src/: Highway includes this once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(target_name);

std::string kernel_instruction_set(Precision precision) {
  std::string target = HWY_DYNAMIC_DISPATCH(target_name)();
  switch (precision) {
    case Precision::fp32:
      return target;
    case Precision::bf16:
      return bf16_units().empty() ? target : target + "+" + name(bf16_units().front());
  }
  return target;
}

}  // namespace chargpt
#endif  // HWY_ONCE
