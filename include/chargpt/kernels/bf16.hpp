#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chargpt {

// Matrix products of bf16 numbers (the upper half of a 32-bit float, rounded to nearest even; subnormal ones become 0)
// with sums in 32-bit floats. The summed index goes by pairs: two neighbours share 32 bits, the earlier one in the low
// half. Sums run in ascending order of the pairs whatever the number of rows, so that a row's result does not depend
// on the rows beside it; their last bits depend on the unit.

/// What a processor multiplies bf16 numbers with: AVX512-BF16's dot products, or the tiles of AMX.
enum class Bf16Unit { avx512, amx };

/// "AVX512_BF16" or "AMX_BF16".
const char* name(Bf16Unit unit);

/// Those that this process may use, best first; empty: none.
const std::vector<Bf16Unit>& bf16_units();

/// Columns of a panel of the right operand.
inline constexpr std::size_t kBf16Panel = 32;

/// Pairs that `depth` numbers take: filled up with zeros to a multiple of 16.
constexpr std::size_t bf16_pairs(std::size_t depth) { return (depth + 31) / 32 * 16; }

/// The right operand (depth x columns) as panels of 32 columns, each (pairs, 32), the last one filled up with zeros.
struct Bf16Panels {
  std::size_t depth;
  std::size_t columns;
  const std::uint32_t* pairs;  ///< bf16_pairs(depth) * 32 a panel; begins at a cache line
};

/// Packs element (k, j) = weights[k * columns + j] into panels.
void bf16_pack(const float* weights, std::size_t depth, std::size_t columns, std::uint32_t* panels);

/// Packs element (k, j) = weights[j * depth + k] into panels.
void bf16_pack_transposed(const float* weights, std::size_t depth, std::size_t columns, std::uint32_t* panels);

/// multiply() of kernels/matmul.hpp. All three functions need a unit of bf16_units().
void bf16_multiply(Bf16Unit unit, const float* x, std::size_t rows, const Bf16Panels& b, const float* bias, float* y);

/// add_weight_gradient() of kernels/matmul.hpp.
void bf16_add_weight_gradient(Bf16Unit unit, const float* dy, std::size_t outputs, const float* x, std::size_t inputs,
                              std::size_t rows, std::size_t first, std::size_t last, float* gradient);

}  // namespace chargpt
