#include "chargpt/kernels/cached_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cached_attention.cpp"  // relative to src/: Highway includes this once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

// Each sum runs in attention()'s order, ascending in what is summed over with fused multiply-adds, and here too the
// lanes hold what is not summed over. Several sums at a time hide the latency of the additions.

/// weights (H, capacity): scores of all positions; -inf behind the last.
void scores(const AttentionShape& shape, const float* queries, const CachedKeys& cached, float* weights) {
  const hn::CappedTag<float, 16> d;
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_size));
  for (std::size_t h = 0; h < shape.heads; ++h) {
    const float* keys = cached.keys + h * shape.head_size * cached.capacity;
    float* row = weights + h * cached.capacity;
    for (std::size_t j = 0; j < cached.capacity; j += hn::Lanes(d)) {
      auto sum = hn::Zero(d);
      for (std::size_t c = 0; c < shape.head_size; ++c) {
        const auto query = hn::Set(d, queries[h * shape.head_size + c] * scale);
        sum = hn::MulAdd(hn::LoadU(d, keys + c * cached.capacity + j), query, sum);
      }
      hn::StoreU(sum, d, row + j);
    }
    std::fill(row + shape.positions, row + cached.capacity, -std::numeric_limits<float>::infinity());
  }
}

/// Scores to exp(score - largest of the head).
void exponentials(const AttentionShape& shape, std::size_t capacity, float* weights) {
  const hn::CappedTag<float, 16> d;
  for (std::size_t h = 0; h < shape.heads; ++h) {
    float* row = weights + h * capacity;
    auto largest = hn::LoadU(d, row);
    for (std::size_t j = hn::Lanes(d); j < capacity; j += hn::Lanes(d))
      largest = hn::Max(largest, hn::LoadU(d, row + j));
    largest = hn::MaxOfLanes(d, largest);
    for (std::size_t j = 0; j < capacity; j += hn::Lanes(d)) {
      hn::StoreU(exp_of_negative(d, hn::Sub(hn::LoadU(d, row + j), largest)), d, row + j);
    }
  }
}

/// 1 / sum of the weights of up to kTogether heads.
constexpr std::size_t kTogether = 8;
void inverse_sums(const AttentionShape& shape, std::size_t capacity, std::size_t first, const float* weights,
                  float* inverse) {
  const std::size_t count = std::min(kTogether, shape.heads - first);
  float sums[kTogether] = {};
  for (std::size_t j = 0; j < shape.positions; ++j) {
    for (std::size_t k = 0; k < count; ++k) sums[k] += weights[(first + k) * capacity + j];
  }
  for (std::size_t k = 0; k < count; ++k) inverse[k] = 1.0F / sums[k];
}

/// y of `Units` vectors of channels from `first` on, all of one tag; a vector does not straddle heads.
template <std::size_t Units, class D>
HWY_INLINE void mix(D d, const AttentionShape& shape, const CachedKeys& cached, std::size_t first, const float* weights,
                    float* y) {
  const std::size_t lanes = hn::Lanes(d), C = shape.width();
  const float* rows[Units];
  hn::Vec<D> sums[Units];
  for (std::size_t u = 0; u < Units; ++u) {
    rows[u] = weights + (first + u * lanes) / shape.head_size * cached.capacity;
    sums[u] = hn::Zero(d);
  }
  for (std::size_t j = 0; j < shape.positions; ++j) {
    const float* values = cached.values + j * C + first;
#pragma GCC unroll 8
    for (std::size_t u = 0; u < Units; ++u) {
      sums[u] = hn::MulAdd(hn::LoadU(d, values + u * lanes), hn::Set(d, rows[u][j]), sums[u]);
    }
  }
  for (std::size_t u = 0; u < Units; ++u) hn::StoreU(sums[u], d, y + first + u * lanes);
}

template <class D>
void mix_all(D d, const AttentionShape& shape, const CachedKeys& cached, const float* weights, float* y) {
  const std::size_t lanes = hn::Lanes(d), C = shape.width();
  std::size_t c = 0;
  for (; c + kTogether * lanes <= C; c += kTogether * lanes) mix<kTogether>(d, shape, cached, c, weights, y);
  for (; c < C; c += lanes) mix<1>(d, shape, cached, c, weights, y);
}

void attend(const AttentionShape& shape, const float* queries, const CachedKeys& cached, float* weights, float* y) {
  scores(shape, queries, cached, weights);
  exponentials(shape, cached.capacity, weights);
  const hn::CappedTag<float, 16> wide;
  const hn::CappedTag<float, 8> half;
  if (shape.head_size % hn::Lanes(wide) == 0) {
    mix_all(wide, shape, cached, weights, y);
  } else if (shape.head_size % hn::Lanes(half) == 0) {
    mix_all(half, shape, cached, weights, y);
  } else {
    mix_all(hn::CappedTag<float, 1>(), shape, cached, weights, y);
  }
  for (std::size_t first = 0; first < shape.heads; first += kTogether) {
    float inverse[kTogether];
    inverse_sums(shape, cached.capacity, first, weights, inverse);
    const std::size_t end = std::min(first + kTogether, shape.heads);
    for (std::size_t c = first * shape.head_size; c < end * shape.head_size; ++c) {
      y[c] *= inverse[c / shape.head_size - first];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(attend);

void cached_attention(const AttentionShape& shape, const float* queries, const CachedKeys& cached, float* scratch,
                      float* y) {
  HWY_DYNAMIC_DISPATCH(attend)(shape, queries, cached, scratch, y);
}

}  // namespace chargpt
#endif  // HWY_ONCE
