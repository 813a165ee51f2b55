#include "chargpt/kernels/dropout.hpp"

#include <algorithm>

#include "chargpt/base/random.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The keep bits of one group of 64 columns.
#if HWY_TARGET == HWY_SCALAR
std::uint64_t group_bits(const DropoutMask& mask, std::uint32_t row, std::uint32_t group) {
  const std::uint32_t threshold = mask.threshold();
  std::uint64_t kept = 0;
  for (std::uint32_t lane = 0; lane < 8; ++lane) {
    const auto words =
        philox({8 * group + lane, row, mask.step, static_cast<std::uint32_t>(Purpose::dropout) | mask.site << 8U},
               philox_key(mask.seed));
    for (std::size_t half = 0; half < 8; ++half) {
      const std::uint32_t bits = words[half / 2] >> (half % 2 == 0 ? 0U : 16U) & 0xFFFFU;
      if (bits >= threshold) kept |= std::uint64_t{1} << (8 * half + lane);
    }
  }
  return kept;
}
#else
using D = hn::CappedTag<std::uint32_t, 8>;
using V = hn::Vec<D>;

/// High and low halves of the products of all lanes with one multiplier.
HWY_INLINE void wide_mul(V a, V multiplier, V& high, V& low) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  const auto even = hn::MulEven(a, multiplier);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), multiplier);
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

std::uint64_t group_bits(const DropoutMask& mask, std::uint32_t row, std::uint32_t group) {
  const D d;
  const auto threshold = hn::Set(d, mask.threshold());
  const auto low_half = hn::Set(d, 0xFFFFU);
  const V m0 = hn::Set(d, 0xD2511F53U);
  const V m1 = hn::Set(d, 0xCD9E8D57U);
  std::uint64_t kept = 0;
  for (std::uint32_t lane = 0; lane < 8; lane += static_cast<std::uint32_t>(hn::Lanes(d))) {
    V c0 = hn::Iota(d, 8 * group + lane);
    V c1 = hn::Set(d, row);
    V c2 = hn::Set(d, mask.step);
    V c3 = hn::Set(d, static_cast<std::uint32_t>(Purpose::dropout) | mask.site << 8U);
    auto key = philox_key(mask.seed);
    for (int round = 0; round < 10; ++round) {
      V high0, low0, high1, low1;
      wide_mul(c0, m0, high0, low0);
      wide_mul(c2, m1, high1, low1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, key[0]));
      c1 = low1;
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, key[1]));
      c3 = low0;
      key[0] += 0x9E3779B9U;
      key[1] += 0xBB67AE85U;
    }
    const V words[4] = {c0, c1, c2, c3};
    for (std::size_t half = 0; half < 8; ++half) {
      const V bits = half % 2 == 0 ? hn::And(words[half / 2], low_half) : hn::ShiftRight<16>(words[half / 2]);
      std::uint8_t lanes = 0;
      hn::StoreMaskBits(d, hn::Not(hn::Lt(bits, threshold)), &lanes);
      kept |= std::uint64_t{lanes} << (8 * half + lane);
    }
  }
  return kept;
}
#endif

void keep_bits(const DropoutMask& mask, std::uint32_t row, std::size_t columns, std::uint32_t* words,
               std::size_t stride) {
  for (std::size_t group = 0; 64 * group < columns; ++group) {
    const std::uint64_t bits = group_bits(mask, row, static_cast<std::uint32_t>(group));
    words[2 * group * stride] = static_cast<std::uint32_t>(bits);
    words[(2 * group + 1) * stride] = static_cast<std::uint32_t>(bits >> 32U);
  }
}

template <class T>
void any_dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const T* in, T* out) {
  const auto scale = static_cast<T>(mask.scale());
  for (std::size_t begin = 0; begin < columns; begin += 64) {
    const std::uint64_t kept = group_bits(mask, row, static_cast<std::uint32_t>(begin / 64));
    const std::size_t count = std::min<std::size_t>(64, columns - begin);
    for (std::size_t i = 0; i < count; ++i) out[begin + i] = in[begin + i] * ((kept >> i & 1U) != 0 ? scale : T{0});
  }
}

void dropout_row_float(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const float* in, float* out) {
  any_dropout_row(mask, row, columns, in, out);
}

void dropout_row_double(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const double* in,
                        double* out) {
  any_dropout_row(mask, row, columns, in, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

DropoutMask DropoutState::mask(std::int64_t layer, DropoutPlace place) const {
  return {p, seed, static_cast<std::uint32_t>(step),
          static_cast<std::uint32_t>(3 * layer) + static_cast<std::uint32_t>(place)};
}

DropoutMask DropoutState::embedding_mask() const {
  constexpr std::uint32_t kSite = (1U << 24U) - 1;
  return {p, seed, static_cast<std::uint32_t>(step), kSite};
}

HWY_EXPORT(keep_bits);
HWY_EXPORT(dropout_row_float);
HWY_EXPORT(dropout_row_double);

void draw_keep_bits(const DropoutMask& mask, std::uint32_t row, std::size_t columns, std::uint32_t* words,
                    std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(keep_bits)(mask, row, columns, words, stride);
}

void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(dropout_row_float)(mask, row, columns, in, out);
}

void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const double* in, double* out) {
  HWY_DYNAMIC_DISPATCH(dropout_row_double)(mask, row, columns, in, out);
}

}  // namespace chargpt
#endif  // HWY_ONCE
