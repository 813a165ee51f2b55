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

/// The multipliers of one group of 64 columns.
#if HWY_TARGET == HWY_SCALAR
void dropout_group(const DropoutMask& mask, std::uint32_t row, std::uint32_t group, float* HWY_RESTRICT out) {
  const std::uint32_t threshold = mask.threshold();
  const float scale = mask.scale();
  for (std::uint32_t lane = 0; lane < 8; ++lane) {
    const auto words =
        philox({8 * group + lane, row, mask.step, static_cast<std::uint32_t>(Purpose::dropout) | mask.site << 8U},
               philox_key(mask.seed));
    for (std::size_t half = 0; half < 8; ++half) {
      const std::uint32_t bits = words[half / 2] >> (half % 2 == 0 ? 0U : 16U) & 0xFFFFU;
      out[8 * half + lane] = bits < threshold ? 0.0F : scale;
    }
  }
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

void dropout_group(const DropoutMask& mask, std::uint32_t row, std::uint32_t group, float* HWY_RESTRICT out) {
  const D d;
  const hn::RebindToFloat<D> df;
  const auto threshold = hn::Set(d, mask.threshold());
  const auto scale = hn::Set(df, mask.scale());
  const auto low_half = hn::Set(d, 0xFFFFU);
  const V m0 = hn::Set(d, 0xD2511F53U);
  const V m1 = hn::Set(d, 0xCD9E8D57U);
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
      // Both sides are below 2^16, so that the signed comparison of the oldest targets is right as well.
      const auto dropped = hn::RebindMask(df, hn::Lt(bits, threshold));
      hn::StoreU(hn::IfThenZeroElse(dropped, scale), df, out + 8 * half + lane);
    }
  }
}
#endif

template <class T>
void any_dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const T* in, T* out) {
  float group[64];
  for (std::size_t begin = 0; begin < columns; begin += 64) {
    dropout_group(mask, row, static_cast<std::uint32_t>(begin / 64), group);
    const std::size_t count = std::min<std::size_t>(64, columns - begin);
    for (std::size_t i = 0; i < count; ++i) out[begin + i] = in[begin + i] * static_cast<T>(group[i]);
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

HWY_EXPORT(dropout_row_float);
HWY_EXPORT(dropout_row_double);

void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(dropout_row_float)(mask, row, columns, in, out);
}

void dropout_row(const DropoutMask& mask, std::uint32_t row, std::size_t columns, const double* in, double* out) {
  HWY_DYNAMIC_DISPATCH(dropout_row_double)(mask, row, columns, in, out);
}

void dropout_multipliers(const DropoutMask& mask, std::uint32_t row, std::size_t columns, float* out) {
  std::fill(out, out + columns, 1.0F);
  dropout_row(mask, row, columns, out, out);
}

}  // namespace chargpt
#endif  // HWY_ONCE
