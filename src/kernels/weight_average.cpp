#include "chargpt/kernels/weight_average.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/weight_average.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

void approach(const float* values, std::size_t count, float decay, float* average) {
  for_vectors(count, [&](auto d, std::size_t i) {
    const auto before = hn::LoadU(d, average + i);
    const auto distance = hn::Sub(hn::LoadU(d, values + i), before);
    hn::StoreU(hn::MulAdd(distance, hn::Set(d, 1.0F - decay), before), d, average + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(approach);

void update_average(const float* values, std::size_t count, float decay, float* average) {
  HWY_DYNAMIC_DISPATCH(approach)(values, count, decay, average);
}

}  // namespace chargpt
#endif  // HWY_ONCE
