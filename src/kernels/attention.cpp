#include "chargpt/kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/tile-inl.hpp"
#include "kernels/vectors-inl.hpp"

#ifndef CHARGPT_KERNELS_ATTENTION_BLOCK
#define CHARGPT_KERNELS_ATTENTION_BLOCK
namespace chargpt {
inline constexpr std::size_t kBlock = 16;  // queries side by side in the lanes of one or more vectors
inline constexpr std::size_t round_up(std::size_t n) { return (n + kBlock - 1) / kBlock * kBlock; }
}  // namespace chargpt
#endif

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

using Lanes = hn::CappedTag<float, kBlock>;
inline constexpr std::size_t kVectors = kBlock / HWY_MIN(HWY_LANES(float), kBlock);

/// Calls body(i) for the first element of each vector of a block.
template <class Body>
HWY_INLINE void for_block(const Body& body) {
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(Lanes())) body(i);
}

/// Scratch memory of one head, cut up. `Rows` have one row a key, position or channel and kBlock columns.
struct Scratch {
  Scratch(const AttentionShape& shape, float* memory) {
    const std::size_t T = round_up(shape.positions), D = round_up(shape.head_size);
    const auto take = [&](std::size_t count) {
      float* begin = memory;
      memory += count;
      return begin;
    };
    weights = take(T * kBlock);
    gradients = take(T * kBlock);
    query_columns = take(D * kBlock);
    dy_columns = take(D * kBlock);
    result_columns = take(D * kBlock);
    query_rows = take(kBlock * D);
    dy_rows = take(kBlock * D);
    dkeys = take(T * D);
    dvalues = take(T * D);
  }
  float* weights;         // (keys, kBlock)
  float* gradients;       // (keys, kBlock)
  float* query_columns;   // (D, kBlock), times 1 / sqrt(D)
  float* dy_columns;      // (D, kBlock)
  float* result_columns;  // (D, kBlock)
  float* query_rows;      // (kBlock, D rounded up), times 1 / sqrt(D)
  float* dy_rows;         // (kBlock, D rounded up)
  float* dkeys;           // (T, D rounded up)
  float* dvalues;         // (T, D rounded up)
};

/// One head of one sequence: where its numbers begin, and the distances between positions.
struct Head {
  Head(const AttentionShape& shape, std::size_t head, const float* qkv)
      : size(shape.head_size), row(3 * shape.width()) {
    queries = qkv + head * size;
    keys = queries + shape.width();
    values = keys + shape.width();
    scale = 1.0F / std::sqrt(static_cast<float>(size));
  }
  std::size_t size;
  std::size_t row;
  const float* queries;
  const float* keys;
  const float* values;
  float scale;
};

/// columns (size, kBlock) = rows of `from` times factor, transposed; columns beyond `count` are 0.
void transpose_rows(const float* from, std::size_t row, std::size_t count, std::size_t size, float factor,
                    float* columns) {
  for (std::size_t d = 0; d < size; ++d) {
    for (std::size_t i = 0; i < count; ++i) columns[d * kBlock + i] = from[i * row + d] * factor;
    std::fill(columns + d * kBlock + count, columns + (d + 1) * kBlock, 0.0F);
  }
}

/// result (rows, kBlock) = left (rows x depth) * right (depth, kBlock).
HWY_INLINE void multiply_block(std::size_t rows, std::size_t depth, Left left, const float* right, float* result) {
  tiles<kVectors, Start::zero>(Lanes(), rows, depth, left, {right, kBlock}, nullptr, {result, kBlock});
}

/// Scores of the queries [first, first + count) against the keys up to each: weights (first + count, kBlock), with -inf
/// where a key comes after the query.
void scores(const Head& head, std::size_t first, std::size_t count, const Scratch& scratch) {
  const Lanes d;
  transpose_rows(head.queries + first * head.row, head.row, count, head.size, head.scale, scratch.query_columns);
  const std::size_t keys = first + count;
  multiply_block(keys, head.size, {head.keys, head.row, 1}, scratch.query_columns, scratch.weights);
  for (std::size_t j = first; j < keys; ++j) {
    for_block([&](std::size_t i) {
      const auto earlier = hn::Lt(hn::Iota(d, static_cast<float>(i)), hn::Set(d, static_cast<float>(j - first)));
      float* at = scratch.weights + j * kBlock + i;
      hn::StoreU(hn::IfThenElse(earlier, hn::Set(d, -std::numeric_limits<float>::infinity()), hn::LoadU(d, at)), d, at);
    });
  }
}

/// Keep bits of one block of queries: of key j, bit j % 32 of the words [j / 32 * kBlock, … + kBlock), one a query.
template <class D>
HWY_INLINE hn::Mask<D> kept_queries(D d, const std::uint32_t* words, std::size_t j, std::size_t i) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::LoadU(du, words + j / 32 * kBlock + i);
  return hn::RebindMask(d, hn::TestBit(bits, hn::Set(du, std::uint32_t{1} << (j % 32))));
}

void forward_block(const Head& head, std::size_t first, std::size_t count, const std::uint32_t* keep, float keep_scale,
                   float* statistics, const Scratch& scratch, float* y, std::size_t width) {
  const Lanes d;
  const std::size_t keys = first + count;
  scores(head, first, count, scratch);
  float factor[kBlock];
  for_block([&](std::size_t i) {
    float* column = scratch.weights + i;
    auto largest = hn::LoadU(d, column);
    for (std::size_t j = 1; j < keys; ++j) largest = hn::Max(largest, hn::LoadU(d, column + j * kBlock));
    auto sum = hn::Zero(d);
    for (std::size_t j = 0; j < keys; ++j) {
      auto e = exp_of_negative(d, hn::Sub(hn::LoadU(d, column + j * kBlock), largest));
      sum = hn::Add(sum, e);
      if (keep != nullptr) e = hn::IfThenElseZero(kept_queries(d, keep, j, i), e);
      hn::StoreU(e, d, column + j * kBlock);
    }
    const auto inverse = hn::Div(hn::Set(d, 1.0F), sum);
    hn::StoreU(hn::Mul(inverse, hn::Set(d, keep_scale)), d, factor + i);
    hn::StoreInterleaved2(largest, inverse, d, statistics + 2 * i);
  });
  multiply_block(head.size, keys, {head.values, 1, head.row}, scratch.weights, scratch.result_columns);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < head.size; ++c) {
      y[i * width + c] = scratch.result_columns[c * kBlock + i] * factor[i];
    }
  }
}

void forward(const AttentionShape& shape, const float* qkv, const AttentionKeep& keep, float* statistics, float* memory,
             float* y) {
  const Scratch scratch(shape, memory);
  const std::size_t T = shape.positions, C = shape.width();
  for (std::size_t h = 0; h < shape.heads; ++h) {
    const Head head(shape, h, qkv);
    const std::size_t head_words = attention_keep_words(shape) / shape.heads;
    for (std::size_t first = 0; first < T; first += kBlock) {
      const std::size_t count = std::min(kBlock, T - first);
      const std::uint32_t* words =
          keep.words == nullptr ? nullptr : keep.words + h * head_words + first * keep_words(T);
      float block_statistics[2 * kBlock];
      forward_block(head, first, count, words, keep.scale, block_statistics, scratch,
                    y + first * C + h * shape.head_size, C);
      std::copy_n(block_statistics, 2 * count, statistics + 2 * (h * T + first));
    }
  }
}

/// rows (kBlock, columns rounded up) = some rows of `from` times factor; what is beyond them stays 0.
void copy_rows(const float* from, std::size_t row, std::size_t count, std::size_t size, float factor, float* rows) {
  const std::size_t step = round_up(size);
  std::fill(rows, rows + kBlock * step, 0.0F);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < size; ++c) rows[i * step + c] = from[i * row + c] * factor;
  }
}

/// sums (keys, D rounded up) += left (keys, kBlock) * rows (kBlock, D rounded up).
void add_product(std::size_t keys, const float* left, const float* rows, std::size_t size, float* sums) {
  const std::size_t step = round_up(size);
  if (size <= 8) {
    // Half a block wide: whole vectors of 16 lanes would compute twice what is needed.
    const hn::CappedTag<float, 8> half;
    constexpr std::size_t kHalf = 8 / HWY_MIN(HWY_LANES(float), 8);
    tiles<kHalf, Start::sum>(half, keys, kBlock, {left, kBlock, 1}, {rows, step}, nullptr, {sums, step});
    return;
  }
  for (std::size_t c = 0; c < size; c += kBlock) {
    tiles<kVectors, Start::sum>(Lanes(), keys, kBlock, {left, kBlock, 1}, {rows + c, step}, nullptr, {sums + c, step});
  }
}

/// From scores and d(weights) to what the gradients are products of: weights after dropout, and d(scores).
void score_gradients(std::size_t keys, const std::uint32_t* keep, float keep_scale, const float* largest,
                     const float* inverse, const float* delta, const Scratch& scratch) {
  const Lanes d;
  const auto scale = hn::Set(d, keep_scale);
  for_block([&](std::size_t i) {
    const auto shift = hn::LoadU(d, largest + i), factor = hn::LoadU(d, inverse + i), mean = hn::LoadU(d, delta + i);
    for (std::size_t j = 0; j < keys; ++j) {
      float* weight = scratch.weights + j * kBlock + i;
      float* gradient = scratch.gradients + j * kBlock + i;
      const auto p = hn::Mul(exp_of_negative(d, hn::Sub(hn::LoadU(d, weight), shift)), factor);
      auto dropped = p, slope = hn::LoadU(d, gradient);
      if (keep != nullptr) {
        const auto kept = kept_queries(d, keep, j, i);
        dropped = hn::IfThenElseZero(kept, hn::Mul(p, scale));
        slope = hn::IfThenElseZero(kept, hn::Mul(slope, scale));
      }
      hn::StoreU(dropped, d, weight);
      hn::StoreU(hn::Mul(p, hn::Sub(slope, mean)), d, gradient);
    }
  });
}

struct BlockGradient {
  const float* y;  // of the block's first query and the head's first channel; rows are `width` apart
  const float* dy;
  std::size_t width;
  const float* statistics;
};

/// Adds one block of queries to dkeys and dvalues, and writes its dqueries over its queries.
void backward_block(const Head& head, std::size_t first, std::size_t count, const std::uint32_t* keep, float keep_scale,
                    const BlockGradient& block, const Scratch& scratch, float* queries) {
  const std::size_t keys = first + count;
  float largest[kBlock] = {}, inverse[kBlock] = {}, delta[kBlock] = {};
  for (std::size_t i = 0; i < count; ++i) {
    largest[i] = block.statistics[2 * i];
    inverse[i] = block.statistics[2 * i + 1];
    for (std::size_t c = 0; c < head.size; ++c)
      delta[i] += block.y[i * block.width + c] * block.dy[i * block.width + c];
  }
  scores(head, first, count, scratch);
  transpose_rows(block.dy, block.width, count, head.size, 1.0F, scratch.dy_columns);
  multiply_block(keys, head.size, {head.values, head.row, 1}, scratch.dy_columns, scratch.gradients);
  score_gradients(keys, keep, keep_scale, largest, inverse, delta, scratch);
  copy_rows(block.dy, block.width, count, head.size, 1.0F, scratch.dy_rows);
  copy_rows(queries, head.row, count, head.size, head.scale, scratch.query_rows);
  add_product(keys, scratch.weights, scratch.dy_rows, head.size, scratch.dvalues);
  add_product(keys, scratch.gradients, scratch.query_rows, head.size, scratch.dkeys);
  multiply_block(head.size, keys, {head.keys, 1, head.row}, scratch.gradients, scratch.result_columns);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < head.size; ++c) {
      queries[i * head.row + c] = scratch.result_columns[c * kBlock + i] * head.scale;
    }
  }
}

void backward(const AttentionShape& shape, const float* y, const float* dy, const AttentionKeep& keep,
              const float* statistics, float* memory, float* qkv) {
  const Scratch scratch(shape, memory);
  const std::size_t T = shape.positions, C = shape.width(), D = shape.head_size, step = round_up(D);
  const std::size_t head_words = attention_keep_words(shape) / shape.heads;
  for (std::size_t h = 0; h < shape.heads; ++h) {
    const Head head(shape, h, qkv);
    std::fill(scratch.dkeys, scratch.dkeys + T * step, 0.0F);
    std::fill(scratch.dvalues, scratch.dvalues + T * step, 0.0F);
    for (std::size_t first = 0; first < T; first += kBlock) {
      const std::uint32_t* words =
          keep.words == nullptr ? nullptr : keep.words + h * head_words + first * keep_words(T);
      const BlockGradient block{y + first * C + h * D, dy + first * C + h * D, C, statistics + 2 * (h * T + first)};
      backward_block(head, first, std::min(kBlock, T - first), words, keep.scale, block, scratch,
                     qkv + first * head.row + h * D);
    }
    for (std::size_t t = 0; t < T; ++t) {
      std::copy_n(scratch.dkeys + t * step, D, qkv + t * head.row + C + h * D);
      std::copy_n(scratch.dvalues + t * step, D, qkv + t * head.row + 2 * C + h * D);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

std::size_t attention_keep_words(const AttentionShape& shape) {
  return shape.heads * round_up(shape.positions) * keep_words(shape.positions);
}

void draw_attention_bits(const AttentionShape& shape, const DropoutMask& mask, std::uint32_t first_row,
                         std::uint32_t row_stride, std::uint32_t* words) {
  const std::size_t T = shape.positions, row_words = keep_words(T);
  for (std::size_t h = 0; h < shape.heads; ++h) {
    std::uint32_t* head = words + h * round_up(T) * row_words;
    for (std::size_t t = 0; t < T; ++t) {
      const std::size_t columns = t + 1;  // later keys are masked anyway
      draw_keep_bits(mask, first_row + static_cast<std::uint32_t>(h) * row_stride + static_cast<std::uint32_t>(t),
                     columns, head + t / kBlock * kBlock * row_words + t % kBlock, kBlock);
    }
  }
}

std::size_t attention_scratch(const AttentionShape& shape) {
  const std::size_t T = round_up(shape.positions), D = round_up(shape.head_size);
  return 2 * T * kBlock + 5 * D * kBlock + 2 * T * D;
}

void attention(const AttentionShape& shape, const float* qkv, const AttentionKeep& keep, float* statistics,
               float* scratch, float* y) {
  HWY_DYNAMIC_DISPATCH(forward)(shape, qkv, keep, statistics, scratch, y);
}

void attention_gradient(const AttentionShape& shape, const float* y, const float* dy, const AttentionKeep& keep,
                        const float* statistics, float* scratch, float* qkv) {
  HWY_DYNAMIC_DISPATCH(backward)(shape, y, dy, keep, statistics, scratch, qkv);
}

}  // namespace chargpt
#endif  // HWY_ONCE
