#include "chargpt/kernels/bf16.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/bf16_blocks.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace chargpt {
namespace {

#if defined(__x86_64__)
bool has_avx512_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx512bw") != 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 5U & 1U) != 0;
}

/// The system saves the tiles' 8 KiB a thread only for a process that asks for them (Linux: Documentation/arch/x86/
/// xstate.rst).
bool may_use_amx() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool there = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22U & 1U) != 0 && (d >> 24U & 1U) != 0;
  return there && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::vector<Bf16Unit> find_units() {
  if (!has_avx512_bf16()) return {};
  if (!may_use_amx()) return {Bf16Unit::avx512};
  return {Bf16Unit::amx, Bf16Unit::avx512};
}
#else
std::vector<Bf16Unit> find_units() { return {}; }
#endif

constexpr std::size_t kRows = 64;      // of x that are multiplied by all panels: packed they stay in the cache
constexpr std::size_t kPairs = 256;    // of the depth of a product that are taken at once
constexpr std::size_t kOutputs = 192;  // of a weight gradient whose dy is packed at once
constexpr std::size_t kDepth = 256;    // rows of dy and x that are summed at once

}  // namespace

const char* name(Bf16Unit unit) {
  switch (unit) {
    case Bf16Unit::avx512:
      return "AVX512_BF16";
    case Bf16Unit::amx:
      return "AMX_BF16";
  }
  return "";
}

const std::vector<Bf16Unit>& bf16_units() {
  static const std::vector<Bf16Unit> units = find_units();
  return units;
}

void bf16_pack(const float* weights, std::size_t depth, std::size_t columns, std::uint32_t* panels) {
  for (std::size_t first = 0; first < columns; first += kBf16Panel) {
    const std::size_t count = std::min(kBf16Panel, columns - first);
    pack_panel({weights + first, columns, depth, count}, panels + first * bf16_pairs(depth));
  }
}

void bf16_pack_transposed(const float* weights, std::size_t depth, std::size_t columns, std::uint32_t* panels) {
  for (std::size_t first = 0; first < columns; first += kBf16Panel) {
    const std::size_t count = std::min(kBf16Panel, columns - first);
    pack_panel_of_rows({weights + first * depth, depth, count, depth}, panels + first * bf16_pairs(depth));
  }
}

void bf16_multiply(Bf16Unit unit, const float* x, std::size_t rows, const Bf16Panels& b, const float* bias, float* y) {
  const Tiles tiles(unit);
  const std::size_t pairs = bf16_pairs(b.depth);
  alignas(64) std::uint32_t left[kRows * kPairs];
  for (std::size_t r = 0; r < rows; r += kRows) {
    const std::size_t here = std::min(kRows, rows - r);
    for (std::size_t i = r; i < r + here; ++i) {
      if (bias != nullptr) std::copy_n(bias, b.columns, y + i * b.columns);
      if (bias == nullptr) std::fill_n(y + i * b.columns, b.columns, 0.0F);
    }
    for (std::size_t k = 0; k < pairs; k += kPairs) {
      const std::size_t some = std::min(kPairs, pairs - k);
      pack_rows({x + r * b.depth + 2 * k, b.depth, here, std::min(2 * some, b.depth - 2 * k)}, left);
      for (std::size_t first = 0; first < b.columns; first += kBf16Panel) {
        const std::uint32_t* panel = b.pairs + first * pairs + k * kBf16Panel;
        tiles.add(
            {left, here, some, panel, y + r * b.columns + first, b.columns, std::min(kBf16Panel, b.columns - first)});
      }
    }
  }
}

void bf16_add_weight_gradient(Bf16Unit unit, const float* dy, std::size_t outputs, const float* x, std::size_t inputs,
                              std::size_t rows, std::size_t first, std::size_t last, float* gradient) {
  const Tiles tiles(unit);
  alignas(64) std::uint32_t left[kOutputs * kDepth / 2];
  alignas(64) std::uint32_t panel[kBf16Panel * kDepth / 2];
  for (std::size_t t = 0; t < rows; t += kDepth) {
    const std::size_t depth = std::min(kDepth, rows - t);
    for (std::size_t n = first; n < last; n += kOutputs) {
      const std::size_t here = std::min(kOutputs, last - n);
      pack_columns({dy + t * outputs + n, outputs, depth, here}, left);
      for (std::size_t k = 0; k < inputs; k += kBf16Panel) {
        const std::size_t count = std::min(kBf16Panel, inputs - k);
        pack_panel({x + t * inputs + k, inputs, depth, count}, panel);
        tiles.add({left, here, bf16_pairs(depth), panel, gradient + n * inputs + k, inputs, count});
      }
    }
  }
}

}  // namespace chargpt
