#include "chargpt/kernels/layer_norm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

/// Sum of term(d, i) over [0, count).
template <class Term>
HWY_INLINE float sum_of(std::size_t count, const Term& term) {
  const hn::ScalableTag<float> d;
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) sums = hn::Add(sums, term(d, i));
  float total = hn::GetLane(hn::SumOfLanes(d, sums));
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) total += hn::GetLane(term(one, i));
  return total;
}

void normalise(const float* x, std::size_t rows, std::size_t columns, const float* weight, const float* bias,
               float* normal, float* inverse_deviation, float* y) {
  const auto size = static_cast<float>(columns);
  for (std::size_t r = 0; r < rows; ++r, x += columns, normal += columns, y += columns) {
    const float mean = sum_of(columns, [&](auto d, std::size_t i) { return hn::LoadU(d, x + i); }) / size;
    const float variance = sum_of(columns,
                                  [&](auto d, std::size_t i) {
                                    const auto distance = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
                                    return hn::Mul(distance, distance);
                                  }) /
                           size;
    const float scale = 1.0F / std::sqrt(variance + 1e-5F);
    inverse_deviation[r] = scale;
    for_vectors(columns, [&](auto d, std::size_t i) {
      const auto n = hn::Mul(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean)), hn::Set(d, scale));
      hn::StoreU(n, d, normal + i);
      const auto shift = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + i);
      hn::StoreU(hn::MulAdd(n, hn::LoadU(d, weight + i), shift), d, y + i);
    });
  }
}

void add_gradient(const float* dy, const float* normal, const float* inverse_deviation, const float* weight,
                  std::size_t rows, std::size_t columns, float* dx, float* weight_gradient, float* bias_gradient) {
  const auto size = static_cast<float>(columns);
  for (std::size_t r = 0; r < rows; ++r, dy += columns, normal += columns, dx += columns) {
    const auto dnormal = [&](auto d, std::size_t i) { return hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, weight + i)); };
    const float mean = sum_of(columns, dnormal) / size;
    const float slope =
        sum_of(columns, [&](auto d, std::size_t i) { return hn::Mul(dnormal(d, i), hn::LoadU(d, normal + i)); }) / size;
    for_vectors(columns, [&](auto d, std::size_t i) {
      const auto n = hn::LoadU(d, normal + i);
      const auto g = hn::LoadU(d, dy + i);
      const auto centred = hn::Sub(hn::Sub(dnormal(d, i), hn::Set(d, mean)), hn::Mul(n, hn::Set(d, slope)));
      hn::StoreU(hn::MulAdd(centred, hn::Set(d, inverse_deviation[r]), hn::LoadU(d, dx + i)), d, dx + i);
      hn::StoreU(hn::MulAdd(g, n, hn::LoadU(d, weight_gradient + i)), d, weight_gradient + i);
      if (bias_gradient != nullptr) hn::StoreU(hn::Add(g, hn::LoadU(d, bias_gradient + i)), d, bias_gradient + i);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(normalise);
HWY_EXPORT(add_gradient);

void layer_norm(const float* x, std::size_t rows, std::size_t columns, const float* weight, const float* bias,
                float* normal, float* inverse_deviation, float* y) {
  HWY_DYNAMIC_DISPATCH(normalise)(x, rows, columns, weight, bias, normal, inverse_deviation, y);
}

void add_layer_norm_gradient(const float* dy, const float* normal, const float* inverse_deviation, const float* weight,
                             std::size_t rows, std::size_t columns, float* dx, float* weight_gradient,
                             float* bias_gradient) {
  HWY_DYNAMIC_DISPATCH(add_gradient)
  (dy, normal, inverse_deviation, weight, rows, columns, dx, weight_gradient, bias_gradient);
}

}  // namespace chargpt
#endif  // HWY_ONCE
