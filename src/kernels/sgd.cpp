#include "chargpt/kernels/sgd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sgd.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

void descend(const SgdStep& step, const float* gradients, std::size_t count, float* values, float* momentum_buffer) {
  for_vectors(count, [&](auto d, std::size_t i) {
    const auto set = [d](float x) { return hn::Set(d, x); };
    const auto value = hn::LoadU(d, values + i);
    auto g = hn::Mul(hn::LoadU(d, gradients + i), set(step.gradient_factor));
    g = hn::MulAdd(value, set(step.weight_decay), g);
    if (momentum_buffer != nullptr) {
      g = hn::MulAdd(hn::LoadU(d, momentum_buffer + i), set(step.momentum), g);
      hn::StoreU(g, d, momentum_buffer + i);
    }
    hn::StoreU(hn::NegMulAdd(g, set(step.learning_rate), value), d, values + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(descend);

void sgd(const SgdStep& step, const float* gradients, std::size_t count, float* values, float* momentum_buffer) {
  HWY_DYNAMIC_DISPATCH(descend)(step, gradients, count, values, momentum_buffer);
}

}  // namespace chargpt
#endif  // HWY_ONCE
