#include "chargpt/kernels/adamw.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adamw.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

void update(const AdamWStep& step, const float* gradients, std::size_t count, float* values, float* first,
            float* second) {
  const float rate = step.learning_rate / step.first_correction;
  const float root = 1.0F / std::sqrt(step.second_correction);
  const float kept = 1.0F - step.learning_rate * step.weight_decay;
  for_vectors(count, [&](auto d, std::size_t i) {
    const auto set = [d](float x) { return hn::Set(d, x); };
    const auto g = hn::Mul(hn::LoadU(d, gradients + i), set(step.gradient_factor));
    const auto m_before = hn::LoadU(d, first + i);
    const auto v_before = hn::LoadU(d, second + i);
    const auto m = hn::MulAdd(hn::Sub(g, m_before), set(step.first_complement), m_before);
    const auto v = hn::MulAdd(hn::Sub(hn::Mul(g, g), v_before), set(step.second_complement), v_before);
    const auto denominator = hn::MulAdd(hn::Sqrt(v), set(root), set(step.epsilon));
    const auto decayed = hn::Mul(hn::LoadU(d, values + i), set(kept));
    hn::StoreU(hn::NegMulAdd(hn::Div(m, denominator), set(rate), decayed), d, values + i);
    hn::StoreU(m, d, first + i);
    hn::StoreU(v, d, second + i);
  });
}

double squares(const float* values, std::size_t count) {
  constexpr std::size_t kBlock = 4096;  // summed in single precision, lane by lane
  const hn::ScalableTag<float> d;
  double total = 0.0;
  std::size_t i = 0;
  while (i + hn::Lanes(d) <= count) {
    auto sum = hn::Zero(d);
    for (const std::size_t end = i + kBlock; i < end && i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      const auto x = hn::LoadU(d, values + i);
      sum = hn::MulAdd(x, x, sum);
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  for (; i < count; ++i) total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(update);
HWY_EXPORT(squares);

void adamw(const AdamWStep& step, const float* gradients, std::size_t count, float* values, float* first_moment,
           float* second_moment) {
  HWY_DYNAMIC_DISPATCH(update)(step, gradients, count, values, first_moment, second_moment);
}

double sum_of_squares(const float* values, std::size_t count) { return HWY_DYNAMIC_DISPATCH(squares)(values, count); }

}  // namespace chargpt
#endif  // HWY_ONCE
