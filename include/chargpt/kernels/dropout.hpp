#pragma once

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

  std::uint32_t threshold() const { return static_cast<std::uint32_t>(p * 65536.0 + 0.5); }
  /// What kept elements are multiplied by: 1 / (1 - realised p).
  float scale() const { return static_cast<float>(65536.0 / (65536.0 - threshold())); }
};

/// out[c] = 0 for dropped columns, mask.scale() for kept ones; 0 <= c < columns.
void dropout_multipliers(const DropoutMask& mask, std::uint32_t row, std::size_t columns, float* out);

/// out[c] = in[c] * multiplier(row, c); in == out is allowed.
void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const float* in, float* out);
void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const double* in, double* out);

}  // namespace chargpt
