#include "chargpt/kernels/cross_entropy.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cross_entropy.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

float largest(const float* values, std::size_t count) {
  const hn::ScalableTag<float> d;
  auto best = hn::Set(d, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) best = hn::Max(best, hn::LoadU(d, values + i));
  float result = hn::GetLane(hn::MaxOfLanes(d, best));
  for (; i < count; ++i) result = std::max(result, values[i]);
  return result;
}

/// The sum of exp(value - shift); each term is handed to keep(d, i, term).
template <class Keep>
HWY_INLINE float exponential_sum(const float* values, std::size_t count, float shift, const Keep& keep) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto term = [&](auto tag, std::size_t i) {
    const auto e = exp_of_negative(tag, hn::Sub(hn::LoadU(tag, values + i), hn::Set(tag, shift)));
    keep(tag, i, e);
    return e;
  };
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) sums = hn::Add(sums, term(d, i));
  float total = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) total += hn::GetLane(term(one, i));
  return total;
}

void losses_only(const float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                 float* losses) {
  for (std::size_t r = 0; r < rows; ++r, logits += symbols) {
    const float shift = largest(logits, symbols);
    const float sum = exponential_sum(logits, symbols, shift, [](auto, std::size_t, auto) {});
    losses[r] = std::log(sum) - (logits[targets[r]] - shift);
  }
}

float total(const float* values, std::size_t count) {
  const hn::ScalableTag<float> d;
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) sums = hn::Add(sums, hn::LoadU(d, values + i));
  float result = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) result += values[i];
  return result;
}

void losses_and_gradient(float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                         float smoothing, float weight, float* losses) {
  const float spread = smoothing / static_cast<float>(symbols);
  for (std::size_t r = 0; r < rows; ++r, logits += symbols) {
    const float shift = largest(logits, symbols);
    float target = logits[targets[r]] - shift;
    // The loss is linear in the target's distribution: the mean of the logits takes its share of the target's place.
    if (smoothing > 0.0F) {
      const float mean = total(logits, symbols) / static_cast<float>(symbols) - shift;
      target += smoothing * (mean - target);
    }
    const float sum =
        exponential_sum(logits, symbols, shift, [&](auto d, std::size_t i, auto e) { hn::StoreU(e, d, logits + i); });
    losses[r] = std::log(sum) - target;
    for_vectors(symbols, [&](auto d, std::size_t i) {
      const auto p = hn::Mul(hn::LoadU(d, logits + i), hn::Set(d, weight / sum));
      hn::StoreU(hn::Sub(p, hn::Set(d, weight * spread)), d, logits + i);
    });
    logits[targets[r]] -= weight * (1.0F - smoothing);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(losses_only);
HWY_EXPORT(losses_and_gradient);

void cross_entropy(const float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                   float* losses) {
  HWY_DYNAMIC_DISPATCH(losses_only)(logits, rows, symbols, targets, losses);
}

void cross_entropy_gradient(float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                            float smoothing, float weight, float* losses) {
  HWY_DYNAMIC_DISPATCH(losses_and_gradient)(logits, rows, symbols, targets, smoothing, weight, losses);
}

}  // namespace chargpt
#endif  // HWY_ONCE
