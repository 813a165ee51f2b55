// The guard is Highway's per-target toggle: this file is included once for each instruction set.
#if defined(CHARGPT_KERNELS_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef CHARGPT_KERNELS_VECTORS_INL_HPP
#undef CHARGPT_KERNELS_VECTORS_INL_HPP
#else
#define CHARGPT_KERNELS_VECTORS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls body(d, i) for [0, count): whole vectors first, then one element at a time with a tag of one lane.
template <class Body>
HWY_INLINE void for_vectors(std::size_t count, const Body& body) {
  const hn::ScalableTag<float> d;
  const std::size_t whole = count / hn::Lanes(d) * hn::Lanes(d);
  for (std::size_t i = 0; i < whole; i += hn::Lanes(d)) body(d, i);
  for (std::size_t i = whole; i < count; ++i) body(hn::CappedTag<float, 1>(), i);
}

/// e^x for x <= 0, to about one unit in the last place; 0 below the smallest normal result, NaN for NaN.
/// e^x = 2^n e^r with n = round(x / ln 2); Taylor's polynomial of degree 7 errs by less than 6e-9 for |r| <= ln 2 / 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_negative(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);  // ln 2 in two parts, of which n times the first is exact
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  V sum = hn::MulAdd(r, hn::Set(d, 1.0F / 5040), hn::Set(d, 1.0F / 720));
  sum = hn::MulAdd(r, sum, hn::Set(d, 1.0F / 120));
  sum = hn::MulAdd(r, sum, hn::Set(d, 1.0F / 24));
  sum = hn::MulAdd(r, sum, hn::Set(d, 1.0F / 6));
  sum = hn::MulAdd(r, sum, hn::Set(d, 0.5F));
  sum = hn::MulAdd(r, sum, hn::Set(d, 1.0F));
  sum = hn::MulAdd(r, sum, hn::Set(d, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  const V result = hn::Mul(sum, hn::BitCast(d, exponent));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3F)), result);
}

/// Which lanes are kept: bits i, i + 1, … of the words (bit i % 32 of words[i / 32]). A vector does not straddle words.
template <class D>
HWY_INLINE hn::Mask<D> kept_lanes(D d, const std::uint32_t* words, std::size_t i) {
  const hn::RebindToUnsigned<D> du;
  const auto lane_bit = hn::Shl(hn::Set(du, 1), hn::Iota(du, 0));
  return hn::RebindMask(d, hn::TestBit(hn::Set(du, words[i / 32] >> (i % 32)), lane_bit));
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#endif
