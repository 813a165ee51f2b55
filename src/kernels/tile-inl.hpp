// The guard is Highway's per-target toggle: this file is included once for each instruction set.
#if defined(CHARGPT_KERNELS_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef CHARGPT_KERNELS_TILE_INL_HPP
#undef CHARGPT_KERNELS_TILE_INL_HPP
#else
#define CHARGPT_KERNELS_TILE_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Every product of this project is sums of tiles: c (rows x columns) = start + a (rows x depth) * b (depth x columns),
// one register a vector of c. An element's sum runs over the depth in ascending order with fused multiply-adds on every
// path, so that it does not depend on how rows and columns are cut into tiles.

using Float = hn::ScalableTag<float>;

// kTileRows * 2 sums, two vectors of b and one element of a must fit into the registers.
#if HWY_TARGET <= HWY_AVX3
inline constexpr std::size_t kTileRows = 12;
#else
inline constexpr std::size_t kTileRows = 6;
#endif

/// What a sum starts from: 0, a row of biases that is the same for all rows of c, or what c holds.
enum class Start { zero, bias, sum };

/// Element (i, k) of the left operand is data[i * row + k * step].
struct Left {
  const float* data;
  std::size_t row;
  std::size_t step;
};

/// Element (k, j) of the right operand is data[k * step + j].
struct Right {
  const float* data;
  std::size_t step;
};

/// Element (i, j) of the result is data[i * row + j].
struct Result {
  float* data;
  std::size_t row;
};

/// One tile of R rows and V vectors; depth > 0.
template <std::size_t R, std::size_t V, Start Begin, class D>
HWY_INLINE void tile(D d, std::size_t depth, Left left, Right right, const float* bias, Result result) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[R][V];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) {
      if constexpr (Begin == Start::zero) sum[i][v] = hn::Zero(d);
      if constexpr (Begin == Start::bias) sum[i][v] = hn::LoadU(d, bias + v * lanes);
      if constexpr (Begin == Start::sum) sum[i][v] = hn::LoadU(d, result.data + i * result.row + v * lanes);
    }
  }
  // Three rows share a pointer: their distances fit x86's addressing modes, so that 12 rows need 4 registers, not 12.
  const float* rows[(R + 2) / 3];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < R; i += 3) rows[i / 3] = left.data + i * left.row;
  const float* from = right.data;
  for (std::size_t k = 0;;) {
    hn::Vec<D> b[V];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) b[v] = hn::LoadU(d, from + v * lanes);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < R; ++i) {
      const auto a = hn::Set(d, rows[i / 3][i % 3 * left.row]);
#pragma GCC unroll 16
      for (std::size_t v = 0; v < V; ++v) sum[i][v] = hn::MulAdd(a, b[v], sum[i][v]);
    }
    if (++k == depth) break;  // before the pointers leave the operands
#pragma GCC unroll 4
    for (auto& row : rows) row += left.step;
    from += right.step;
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) hn::StoreU(sum[i][v], d, result.data + i * result.row + v * lanes);
  }
}

/// Tiles of any number of rows below each other, cut as evenly as kTileRows allows; V vectors wide.
template <std::size_t V, Start Begin, class D>
HWY_INLINE void tiles(D d, std::size_t rows, std::size_t depth, Left left, Right right, const float* bias,
                      Result result) {
  const std::size_t count = (rows + kTileRows - 1) / kTileRows;
  std::size_t begin = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const std::size_t end = (t + 1) * rows / count;
    const Left a{left.data + begin * left.row, left.row, left.step};
    const Result c{result.data + begin * result.row, result.row};
    // clang-format off
    switch (end - begin) {
      case 1: tile<1, V, Begin>(d, depth, a, right, bias, c); break;
      case 2: tile<2, V, Begin>(d, depth, a, right, bias, c); break;
      case 3: tile<3, V, Begin>(d, depth, a, right, bias, c); break;
      case 4: tile<4, V, Begin>(d, depth, a, right, bias, c); break;
      case 5: tile<5, V, Begin>(d, depth, a, right, bias, c); break;
      case 6: tile<6, V, Begin>(d, depth, a, right, bias, c); break;
#if HWY_TARGET <= HWY_AVX3
      case 7: tile<7, V, Begin>(d, depth, a, right, bias, c); break;
      case 8: tile<8, V, Begin>(d, depth, a, right, bias, c); break;
      case 9: tile<9, V, Begin>(d, depth, a, right, bias, c); break;
      case 10: tile<10, V, Begin>(d, depth, a, right, bias, c); break;
      case 11: tile<11, V, Begin>(d, depth, a, right, bias, c); break;
      case 12: tile<12, V, Begin>(d, depth, a, right, bias, c); break;
#endif
    }
    // clang-format on
    begin = end;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#endif
