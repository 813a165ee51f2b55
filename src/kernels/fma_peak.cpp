#include "chargpt/kernels/fma_peak.hpp"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fma_peak.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Enough to keep two units of four to five cycles' latency busy, and with both operands within 16 registers.
inline constexpr std::size_t kChains = 12;

double chains(std::int64_t rounds) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.5F), term = hn::Set(d, 1.0F);  // every chain tends to 2: no slow subnormals
  hn::Vec<decltype(d)> sum[kChains];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kChains; ++i) sum[i] = hn::Set(d, static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (auto& chain : sum) chain = hn::MulAdd(chain, factor, term);
  }
  auto total = sum[0];
#pragma GCC unroll 16
  for (std::size_t i = 1; i < kChains; ++i) total = hn::Add(total, sum[i]);
  [[maybe_unused]] volatile const float used = hn::GetLane(total);  // without a use the compiler drops the chains
  return 2.0 * static_cast<double>(kChains * hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(chains);

double fused_multiply_adds(std::int64_t rounds) { return HWY_DYNAMIC_DISPATCH(chains)(rounds); }

}  // namespace chargpt
#endif  // HWY_ONCE
