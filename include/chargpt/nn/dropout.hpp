#pragma once

#include <torch/types.h>

#include <cstdint>

#include "chargpt/kernels/dropout.hpp"

namespace chargpt {

/// The mask row of a tensor's i-th row (its last dimension is the columns): first + (i / inner) * outer_stride + i %
/// inner. Hidden activations (B, T, C): row = window * T + t. Attention weights (B, H, T, T): row = (window * H + h) *
/// T + t.
struct MaskRows {
  std::int64_t first = 0;
  std::int64_t inner = 1;
  std::int64_t outer_stride = 1;
};

/// x with elements dropped and the kept ones scaled, differentiable; the mask is drawn again in the backward pass.
/// x: floating point, contiguous in its last dimension.
torch::Tensor dropout(const torch::Tensor& x, const DropoutMask& mask, const MaskRows& rows);

/// The multipliers (0 or mask.scale()) of a (count, columns) block of rows, computed by tensor operations on any
/// device. Used on devices without our kernels, and to export masks.
torch::Tensor dropout_multipliers(const DropoutMask& mask, const MaskRows& rows, std::int64_t count,
                                  std::int64_t columns, const torch::TensorOptions& options);

}  // namespace chargpt
