#pragma once

#include <cstdint>

namespace chargpt {

/// What no kernel can exceed: does `rounds` rounds of independent fused multiply-adds in registers, without memory, and
/// returns the number of floating-point operations (two a multiply-add and lane).
double fused_multiply_adds(std::int64_t rounds);

}  // namespace chargpt
