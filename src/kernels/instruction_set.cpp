#include "chargpt/kernels/instruction_set.hpp"

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

const char* kernel_instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace chargpt
#endif  // HWY_ONCE
