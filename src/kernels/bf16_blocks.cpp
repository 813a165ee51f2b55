#include "kernels/bf16_blocks.hpp"

#if defined(__x86_64__)

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12 warns of its own header (GCC bug 105593)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// Highway 1.0.3 has no target with these instructions.
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")
namespace chargpt {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kBlockRows = 32;
constexpr std::size_t kDotRows = 8;  // times two vectors: sums enough to hide the latency of a dot product

__mmask16 first_lanes(std::size_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xFFFFU : (1U << count) - 1U);
}

/// 16 numbers of a row; 0 where m has none.
__m512 numbers(const Numbers& m, std::size_t r, std::size_t c) {
  if (r >= m.rows || c >= m.columns) return _mm512_setzero_ps();
  return _mm512_maskz_loadu_ps(first_lanes(m.columns - c), m.data + r * m.step + c);
}

/// 16 pairs of neighbours in row r.
__m512i pairs_in_row(const Numbers& m, std::size_t r, std::size_t c) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(numbers(m, r, c + kLanes), numbers(m, r, c)));
}

/// 16 pairs of neighbours in the columns from c on: rows r and r + 1.
__m512i pairs_in_columns(const Numbers& m, std::size_t r, std::size_t c) {
  alignas(64) static constexpr std::uint16_t kInterleave[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                                21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                                11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(numbers(m, r + 1, c), numbers(m, r, c)));
  return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleave), both);
}

/// Exchanges rows and columns: groups of two, of four and of eight lanes, then of all.
void transpose(__m512i (&m)[kLanes]) {
  __m512i t[kLanes];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(m[2 * i], m[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(m[2 * i], m[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kLanes; i += 4) {
    m[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    m[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    m[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    m[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0xDD);
    t[i + 8] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0xDD);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) {
    m[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    m[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
  }
}

void store(std::uint32_t* to, __m512i pairs) { _mm512_store_si512(to, pairs); }

/// result (rows of b from `first` on, at most kDotRows) += dot products.
void add_dots(const Block& b, std::size_t first) {
  const __mmask16 low = first_lanes(b.columns), high = first_lanes(b.columns - std::min(b.columns, kLanes));
  const std::size_t rows = std::min(kDotRows, b.rows - first);
  float* result = b.result + first * b.step;
  __m512 sum[kDotRows][2] = {};
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kDotRows; ++i) {
    if (i >= rows) continue;
    sum[i][0] = _mm512_maskz_loadu_ps(low, result + i * b.step);
    if (high != 0) sum[i][1] = _mm512_maskz_loadu_ps(high, result + i * b.step + kLanes);
  }
  const std::uint32_t* left = b.left + first * b.pairs;
  for (std::size_t k = 0; k < b.pairs; ++k) {
    const auto right0 = reinterpret_cast<__m512bh>(_mm512_load_si512(b.panel + k * kBf16Panel));
    const auto right1 = reinterpret_cast<__m512bh>(_mm512_load_si512(b.panel + k * kBf16Panel + kLanes));
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kDotRows; ++i) {
      const auto pair = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(left[i * b.pairs + k])));
      sum[i][0] = _mm512_dpbf16_ps(sum[i][0], pair, right0);
      sum[i][1] = _mm512_dpbf16_ps(sum[i][1], pair, right1);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kDotRows; ++i) {
    if (i >= rows) continue;
    _mm512_mask_storeu_ps(result + i * b.step, low, sum[i][0]);
    if (high != 0) _mm512_mask_storeu_ps(result + i * b.step + kLanes, high, sum[i][1]);
  }
}

/// result (32 x 32, rows `step` apart) += left (32, pairs) * panel, in four tiles of 16 x 16.
void add_tiles(const std::uint32_t* left, std::size_t pairs, const std::uint32_t* panel, float* result,
               std::size_t step) {
  const auto result_bytes = static_cast<long>(step * sizeof(float));
  const auto left_bytes = static_cast<long>(pairs * sizeof(std::uint32_t));
  constexpr long kPanelBytes = kBf16Panel * sizeof(std::uint32_t);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler does not see that tiles read memory
  _tile_loadd(0, result, result_bytes);
  _tile_loadd(1, result + kLanes, result_bytes);
  _tile_loadd(2, result + kLanes * step, result_bytes);
  _tile_loadd(3, result + kLanes * step + kLanes, result_bytes);
  for (std::size_t k = 0; k < pairs; k += kLanes) {
    _tile_loadd(4, left + k, left_bytes);
    _tile_loadd(5, left + kLanes * pairs + k, left_bytes);
    _tile_loadd(6, panel + k * kBf16Panel, kPanelBytes);
    _tile_loadd(7, panel + k * kBf16Panel + kLanes, kPanelBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, result, result_bytes);
  _tile_stored(1, result + kLanes, result_bytes);
  _tile_stored(2, result + kLanes * step, result_bytes);
  _tile_stored(3, result + kLanes * step + kLanes, result_bytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// As add_tiles(), of fewer rows or columns: the result is computed aside.
void add_tiles_aside(const Block& b, std::size_t first) {
  const std::size_t rows = std::min(kBlockRows, b.rows - first);
  alignas(64) float aside[kBlockRows * kBf16Panel] = {};
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(b.result + (first + i) * b.step, b.columns, aside + i * kBf16Panel);
  }
  add_tiles(b.left + first * b.pairs, b.pairs, b.panel, aside, kBf16Panel);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(aside + i * kBf16Panel, b.columns, b.result + (first + i) * b.step);
  }
}

/// The layout that the processor reads (Intel, "Intel 64 and IA-32 architectures software developer's manual", volume
/// 2, LDTILECFG): all tiles have 16 rows of 64 bytes.
struct TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

void configure_tiles() {
  static constexpr TileConfig config;
  _tile_loadconfig(&config);
}

void release_tiles() { _tile_release(); }

}  // namespace

void pack_rows(const Numbers& m, std::uint32_t* left) {
  const std::size_t pairs = bf16_pairs(m.columns);
  for (std::size_t r = 0; r < (m.rows + kBlockRows - 1) / kBlockRows * kBlockRows; ++r) {
    for (std::size_t k = 0; k < pairs; k += kLanes) store(left + r * pairs + k, pairs_in_row(m, r, 2 * k));
  }
}

void pack_columns(const Numbers& m, std::uint32_t* left) {
  const std::size_t pairs = bf16_pairs(m.rows);
  for (std::size_t c = 0; c < (m.columns + kBlockRows - 1) / kBlockRows * kBlockRows; c += kLanes) {
    for (std::size_t k = 0; k < pairs; k += kLanes) {
      __m512i square[kLanes];
      for (std::size_t i = 0; i < kLanes; ++i) square[i] = pairs_in_columns(m, 2 * (k + i), c);
      transpose(square);
      for (std::size_t i = 0; i < kLanes; ++i) store(left + (c + i) * pairs + k, square[i]);
    }
  }
}

void pack_panel(const Numbers& m, std::uint32_t* panel) {
  for (std::size_t k = 0; k < bf16_pairs(m.rows); ++k) {
    for (std::size_t c = 0; c < kBf16Panel; c += kLanes)
      store(panel + k * kBf16Panel + c, pairs_in_columns(m, 2 * k, c));
  }
}

void pack_panel_of_rows(const Numbers& m, std::uint32_t* panel) {
  for (std::size_t k = 0; k < bf16_pairs(m.columns); k += kLanes) {
    for (std::size_t r = 0; r < kBf16Panel; r += kLanes) {
      __m512i square[kLanes];
      for (std::size_t i = 0; i < kLanes; ++i) square[i] = pairs_in_row(m, r + i, 2 * k);
      transpose(square);
      for (std::size_t i = 0; i < kLanes; ++i) store(panel + (k + i) * kBf16Panel + r, square[i]);
    }
  }
}

Tiles::Tiles(Bf16Unit unit) : unit_(unit) {
  if (unit_ == Bf16Unit::amx) configure_tiles();
}

Tiles::~Tiles() {
  if (unit_ == Bf16Unit::amx) release_tiles();  // so that a switch of threads has nothing to save
}

void Tiles::add(const Block& block) const {
  switch (unit_) {
    case Bf16Unit::avx512:
      for (std::size_t r = 0; r < block.rows; r += kDotRows) add_dots(block, r);
      break;
    case Bf16Unit::amx:
      for (std::size_t r = 0; r < block.rows; r += kBlockRows) {
        if (block.columns < kBf16Panel || block.rows - r < kBlockRows) {
          add_tiles_aside(block, r);
        } else {
          add_tiles(block.left + r * block.pairs, block.pairs, block.panel, block.result + r * block.step, block.step);
        }
      }
      break;
  }
}

}  // namespace chargpt
HWY_POP_ATTRIBUTES

#else

#include <stdexcept>

namespace chargpt {
namespace {

[[noreturn]] void refuse() { throw std::logic_error("no processor of this architecture has a Bf16Unit"); }

}  // namespace

void pack_rows(const Numbers&, std::uint32_t*) { refuse(); }
void pack_columns(const Numbers&, std::uint32_t*) { refuse(); }
void pack_panel(const Numbers&, std::uint32_t*) { refuse(); }
void pack_panel_of_rows(const Numbers&, std::uint32_t*) { refuse(); }
Tiles::Tiles(Bf16Unit unit) : unit_(unit) {}
Tiles::~Tiles() = default;
void Tiles::add(const Block&) const { refuse(); }

}  // namespace chargpt

#endif
