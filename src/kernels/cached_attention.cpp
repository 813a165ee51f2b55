#include "chargpt/kernels/cached_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cached_attention.cpp"  // relative to src/: Highway includes this once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vectors-inl.hpp"

#ifndef CHARGPT_KERNELS_CACHED_ATTENTION_BLOCK
#define CHARGPT_KERNELS_CACHED_ATTENTION_BLOCK
namespace chargpt {
inline constexpr std::size_t kPositions = CachedKeys::kPositions;
inline constexpr std::size_t whole_blocks(std::size_t n) { return (n + kPositions - 1) / kPositions * kPositions; }
}  // namespace chargpt
#endif

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

// Each sum runs in attention()'s order, ascending in what is summed over with fused multiply-adds, and here too the
// lanes hold what is not summed over. Several sums at a time hide the latency of the additions.

using Lanes = hn::CappedTag<float, kPositions>;

/// Scores of a block of positions for one head, whose keys are (head_size, kPositions).
HWY_INLINE void score_block(const float* queries, std::size_t head_size, const float* keys, float* scores) {
  constexpr std::size_t kVectors = kPositions / HWY_MIN(HWY_LANES(float), kPositions);
  const Lanes d;
  hn::Vec<Lanes> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (std::size_t c = 0; c < head_size; ++c, keys += kPositions) {
    const auto query = hn::Set(d, queries[c]);
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[v] = hn::MulAdd(hn::LoadU(d, keys + v * hn::Lanes(d)), query, sums[v]);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, scores + v * hn::Lanes(d));
}

/// rows (heads, whole blocks of positions): scores; -inf behind the last position.
void scores(const AttentionShape& shape, const float* queries, const float* keys, float* rows) {
  const std::size_t capacity = whole_blocks(shape.positions);
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_size));
  float* scaled = rows + shape.heads * capacity;
  for (std::size_t c = 0; c < shape.width(); ++c) scaled[c] = queries[c] * scale;
  for (std::size_t j = 0; j < shape.positions; j += kPositions) {
    for (std::size_t c = 0; c < shape.width(); c += shape.head_size, keys += shape.head_size * kPositions) {
      score_block(scaled + c, shape.head_size, keys, rows + c / shape.head_size * capacity + j);
    }
  }
  for (std::size_t h = 0; h < shape.heads; ++h) {
    std::fill(rows + h * capacity + shape.positions, rows + (h + 1) * capacity,
              -std::numeric_limits<float>::infinity());
  }
}

/// Scores of one head to exp(score - largest).
void exponentials(std::size_t positions, float* row) {
  const Lanes d;
  auto largest = hn::LoadU(d, row);
  for (std::size_t j = hn::Lanes(d); j < positions; j += hn::Lanes(d))
    largest = hn::Max(largest, hn::LoadU(d, row + j));
  largest = hn::MaxOfLanes(d, largest);
  for (std::size_t j = 0; j < positions; j += hn::Lanes(d)) {
    hn::StoreU(exp_of_negative(d, hn::Sub(hn::LoadU(d, row + j), largest)), d, row + j);
  }
}

/// Divides y of `Heads` heads from `first` on by the sum of their weights. Each sum runs over the positions in order,
/// so that it is its latency that costs, which several at a time share.
template <std::size_t Heads>
void divide_by_sums(const AttentionShape& shape, std::size_t first, const float* weights, float* y) {
  const std::size_t capacity = whole_blocks(shape.positions);
  float sums[Heads] = {};
  for (std::size_t j = 0; j < shape.positions; ++j) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < Heads; ++k) sums[k] += weights[(first + k) * capacity + j];
  }
  for (std::size_t k = 0; k < Heads; ++k) {
    const float inverse = 1.0F / sums[k];
    for (std::size_t c = 0; c < shape.head_size; ++c) y[(first + k) * shape.head_size + c] *= inverse;
  }
}

inline constexpr std::size_t kTogether = 8;  // sums, so that they wait for memory and additions together

/// y of `Units` vectors of channels from `first` on, all of one tag; a vector does not straddle heads.
template <std::size_t Units, class D>
HWY_INLINE void mix(D d, const AttentionShape& shape, const CachedKeys& cached, std::size_t first, const float* weights,
                    float* y) {
  const std::size_t lanes = hn::Lanes(d), C = shape.width(), capacity = whole_blocks(shape.positions);
  const float* rows[Units];
  hn::Vec<D> sums[Units];
  for (std::size_t u = 0; u < Units; ++u) {
    rows[u] = weights + (first + u * lanes) / shape.head_size * capacity;
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
  const std::size_t D = shape.head_size;
  scores(shape, queries, cached.keys, weights);
  for (std::size_t i = 0; i < shape.heads; ++i) {
    exponentials(shape.positions, weights + i * whole_blocks(shape.positions));
  }
  const Lanes wide;
  const hn::CappedTag<float, 8> half;
  if (D % hn::Lanes(wide) == 0) {
    mix_all(wide, shape, cached, weights, y);
  } else if (D % hn::Lanes(half) == 0) {
    mix_all(half, shape, cached, weights, y);
  } else {
    mix_all(hn::CappedTag<float, 1>(), shape, cached, weights, y);
  }
  std::size_t h = 0;
  for (; h + kTogether <= shape.heads; h += kTogether) divide_by_sums<kTogether>(shape, h, weights, y);
  for (; h < shape.heads; ++h) divide_by_sums<1>(shape, h, weights, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(attend);

void cache_keys(std::size_t width, const float* qkv, std::size_t first, std::size_t count, const CachedKeys& cached) {
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t position = first + begin, column = position % kPositions;
    const std::size_t end = std::min(begin + kPositions - column, count);  // of the block of keys
    const float* rows = qkv + width;
    float* keys = cached.keys + (position - column) * width + column;
    for (std::size_t c = 0; c < width; ++c) {
      for (std::size_t t = begin; t < end; ++t) keys[c * kPositions + t - begin] = rows[t * 3 * width + c];
    }
    begin = end;
  }
  for (std::size_t t = 0; t < count; ++t) {
    std::copy_n(qkv + (3 * t + 2) * width, width, cached.values + (first + t) * width);
  }
}

std::size_t cached_attention_scratch(const AttentionShape& shape) {
  return shape.heads * whole_blocks(shape.positions) + shape.width();
}

void cached_attention(const AttentionShape& shape, const float* queries, const CachedKeys& cached, float* scratch,
                      float* y) {
  HWY_DYNAMIC_DISPATCH(attend)(shape, queries, cached, scratch, y);
}

}  // namespace chargpt
#endif  // HWY_ONCE
