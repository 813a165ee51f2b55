#pragma once

#include <cstddef>
#include <cstdint>

#include "chargpt/kernels/dropout.hpp"

namespace chargpt {

/// Causal attention of one sequence: T positions, H heads of D = C / H each, softmax(q kᵀ / sqrt(D)) with dropout on
/// the weights, times v (Vaswani et al., "Attention is all you need", 2017, section 3.2.1). No T x T matrix is kept:
/// the backward pass computes the weights again, 16 queries at a time (after Dao et al., "FlashAttention", 2022).
struct AttentionShape {
  std::size_t positions;  ///< T
  std::size_t heads;      ///< H
  std::size_t head_size;  ///< D
  std::size_t width() const { return heads * head_size; }
};

/// Dropout of the weights: keep bits as draw_attention_bits() lays them out, and what kept weights are multiplied by.
struct AttentionKeep {
  const std::uint32_t* words = nullptr;  ///< nullptr: nothing is dropped, and the scale is 1
  float scale = 1.0F;
};

/// Words of keep bits for all heads.
std::size_t attention_keep_words(const AttentionShape& shape);

/// Draws the keep bits of all heads; the mask row of head h and query t is first_row + h * row_stride + t.
void draw_attention_bits(const AttentionShape& shape, const DropoutMask& mask, std::uint32_t first_row,
                         std::uint32_t row_stride, std::uint32_t* words);

/// Floats of scratch memory that both functions below use.
std::size_t attention_scratch(const AttentionShape& shape);

/// qkv (T, 3C): each row the queries of all heads, their keys, their values -> y (T, C). statistics (H, T, 2) keeps
/// each query's largest score and 1 / sum for the backward pass.
void attention(const AttentionShape& shape, const float* qkv, const AttentionKeep& keep, float* statistics,
               float* scratch, float* y);

/// Turns qkv into its gradient, given that of y.
void attention_gradient(const AttentionShape& shape, const float* y, const float* dy, const AttentionKeep& keep,
                        const float* statistics, float* scratch, float* qkv);

}  // namespace chargpt
