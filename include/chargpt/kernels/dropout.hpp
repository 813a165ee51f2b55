#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace chargpt {

/// Which elements of one dropout site are dropped in one step: a pure function of (seed, step, site, row, column), so
/// that a backward pass draws the mask again instead of keeping it, and any split of the batch sees the same mask.
///
/// A row is cut into groups of 64 columns. Lane l = column % 8 of group g = column / 64 has the Philox counter
/// {8 g + l, row, step, Purpose::dropout | site << 8} under the seed's key; its eight 16-bit halves, low before high,
/// word by word, belong to the columns l, l + 8, … l + 56 of the group. An element is dropped when its half is below
/// threshold().
struct DropoutMask {
  double p = 0.0;  ///< [0, 1); realised in steps of 1/65536
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t site = 0;  ///< < 2^24

  /// At most 65535: something is kept whatever p is.
  std::uint32_t threshold() const { return std::min(static_cast<std::uint32_t>(p * 65536.0 + 0.5), 65535U); }
  /// What kept elements are multiplied by: 1 / (1 - realised p).
  float scale() const { return static_cast<float>(65536.0 / (65536.0 - threshold())); }
};

/// Where in a block dropout is applied. The site number of a mask is 3 * layer + place; of the embeddings' mask it is
/// 2^24 - 1, which no block has.
enum class DropoutPlace : std::uint32_t { attention_weights = 0, projection = 1, feed_forward = 2 };

/// What a training pass needs to draw its masks. Off (p = 0) outside training.
///
/// The mask row of window w of the whole batch is w * T + t for hidden activations (columns: C) and (w * H + h) * T + t
/// for attention weights (columns: T). Rows are 32-bit numbers: check_rules() refuses batches that have more.
struct DropoutState {
  double p = 0.0;
  std::uint64_t seed = 0;
  std::int64_t step = 0;          ///< optimizer step, from 0
  std::int64_t first_window = 0;  ///< position in the whole batch of the pass's first window

  DropoutMask mask(std::int64_t layer, DropoutPlace place) const;
  DropoutMask embedding_mask() const;  ///< of the sum of the embeddings, with model.embedding_dropout
};

/// 32-bit words that hold a row of mask bits: two for every 64 columns begun.
constexpr std::size_t keep_words(std::size_t columns) { return (columns + 63) / 64 * 2; }

/// Bit c % 32 of words[c / 32 * stride] becomes 1 where column c of the row is kept; there are keep_words(columns)
/// words.
void draw_keep_bits(const DropoutMask& mask, std::uint32_t row, std::size_t columns, std::uint32_t* words,
                    std::size_t stride = 1);

/// out[c] = 0 for dropped columns, in[c] * mask.scale() for kept ones; 0 <= c < columns; in == out is allowed.
void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const float* in, float* out);
void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const double* in, double* out);

}  // namespace chargpt
