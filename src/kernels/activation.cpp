#include "chargpt/kernels/activation.hpp"

#include "chargpt/kernels/dropout.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

/// Phi(x) and phi(x) of the normal distribution; the exponential serves both.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void normal_distribution(D d, V x, V& cumulative, V& density) {
  const V size = hn::Abs(x);
  const V exponential = exp_of_negative(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5F)));
  const V t = hn::Div(hn::Set(d, 1.0F), hn::MulAdd(size, hn::Set(d, 0.3275911F * 0.70710678F), hn::Set(d, 1.0F)));
  V polynomial = hn::MulAdd(t, hn::Set(d, 1.061405429F), hn::Set(d, -1.453152027F));
  polynomial = hn::MulAdd(t, polynomial, hn::Set(d, 1.421413741F));
  polynomial = hn::MulAdd(t, polynomial, hn::Set(d, -0.284496736F));
  polynomial = hn::MulAdd(t, polynomial, hn::Set(d, 0.254829592F));
  const V tail = hn::Mul(hn::Mul(hn::Mul(t, polynomial), exponential), hn::Set(d, 0.5F));
  cumulative = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0F), tail));
  density = hn::Mul(exponential, hn::Set(d, 0.3989422804F));
}

void any_gelu(float* x, std::size_t count, float* derivative) {
  for_vectors(count, [&](auto d, std::size_t i) {
    const auto value = hn::LoadU(d, x + i);
    auto cumulative = value, density = value;
    normal_distribution(d, value, cumulative, density);
    hn::StoreU(hn::Mul(value, cumulative), d, x + i);
    if (derivative != nullptr) hn::StoreU(hn::MulAdd(value, density, cumulative), d, derivative + i);
  });
}

void times(const float* factor, std::size_t count, float* x) {
  for_vectors(count, [&](auto d, std::size_t i) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, factor + i)), d, x + i);
  });
}

void plus(const float* y, std::size_t count, float* x) {
  for_vectors(count,
              [&](auto d, std::size_t i) { hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i); });
}

template <class D>
HWY_INLINE hn::Vec<D> dropped(D d, const float* from, const std::uint32_t* words, float scale, std::size_t i) {
  const auto value = hn::LoadU(d, from + i);
  if (words == nullptr) return value;
  return hn::IfThenElseZero(kept_lanes(d, words, i), hn::Mul(value, hn::Set(d, scale)));
}

void add(const float* y, std::size_t rows, std::size_t columns, const KeepBits& keep, float* x) {
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const std::uint32_t* words = keep.words == nullptr ? nullptr : keep.words + r * keep_words(columns);
    for_vectors(columns, [&](auto d, std::size_t i) {
      hn::StoreU(hn::Add(hn::LoadU(d, x + i), dropped(d, y, words, keep.scale, i)), d, x + i);
    });
  }
}

void copy(const float* x, std::size_t rows, std::size_t columns, const KeepBits& keep, float* y) {
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const std::uint32_t* words = keep.words == nullptr ? nullptr : keep.words + r * keep_words(columns);
    for_vectors(columns, [&](auto d, std::size_t i) { hn::StoreU(dropped(d, x, words, keep.scale, i), d, y + i); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(any_gelu);
HWY_EXPORT(times);
HWY_EXPORT(plus);
HWY_EXPORT(add);
HWY_EXPORT(copy);

void gelu(float* x, std::size_t count, float* derivative) { HWY_DYNAMIC_DISPATCH(any_gelu)(x, count, derivative); }

void multiply_by(const float* factor, std::size_t count, float* x) { HWY_DYNAMIC_DISPATCH(times)(factor, count, x); }

void add_to(const float* y, std::size_t count, float* x) { HWY_DYNAMIC_DISPATCH(plus)(y, count, x); }

void add_dropped(const float* y, std::size_t rows, std::size_t columns, const KeepBits& keep, float* x) {
  HWY_DYNAMIC_DISPATCH(add)(y, rows, columns, keep, x);
}

void copy_dropped(const float* x, std::size_t rows, std::size_t columns, const KeepBits& keep, float* y) {
  HWY_DYNAMIC_DISPATCH(copy)(x, rows, columns, keep, y);
}

}  // namespace chargpt
#endif  // HWY_ONCE
