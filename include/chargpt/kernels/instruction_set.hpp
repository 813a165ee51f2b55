#pragma once

namespace chargpt {

/// The instruction set that the kernels run on here, by Highway's name for it, such as "AVX2" or "AVX3" (AVX-512). It
/// decides the last bits of results.
const char* kernel_instruction_set();

}  // namespace chargpt
