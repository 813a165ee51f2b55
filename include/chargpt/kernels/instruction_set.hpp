#pragma once

#include <string>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// The instruction set that the kernels run on here, by Highway's name for it, such as "AVX2" or "AVX3" (AVX-512). It
/// decides the last bits of results. For bf16 products their unit stands behind it: "AVX3+AMX_BF16".
std::string kernel_instruction_set(Precision precision = Precision::fp32);

}  // namespace chargpt
