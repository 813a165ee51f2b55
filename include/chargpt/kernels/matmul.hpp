#pragma once

#include <cstddef>
#include <cstdint>

#include "chargpt/base/aligned_vector.hpp"
#include "chargpt/base/config.hpp"
#include "chargpt/kernels/bf16.hpp"

namespace chargpt {

// The three products of a Linear layer y = x Wᵀ + b (W: out x in, row-major) over a few dozen to a few hundred rows.
// All matrices are of 32-bit floats; with Precision::bf16 the operands are rounded to bf16 on the way
// (kernels/bf16.hpp). Sums run in ascending order of the summed index whatever the number of rows, so that a row's
// result does not depend on the rows beside it.

/// A matrix (depth x columns) as the right operand of multiply(): panels of 32 columns, each panel's rows one after
/// another, the last panel filled up with zeros; for Precision::bf16 as Bf16Panels describes.
class PackedMatrix {
 public:
  static constexpr std::size_t kPanel = 32;

  PackedMatrix() = default;
  /// std::logic_error for bf16 where bf16_units() is empty.
  PackedMatrix(std::size_t depth, std::size_t columns, Precision precision = Precision::fp32);

  /// Takes over element (k, j) = weights[j * depth + k]: W for y = x Wᵀ, with W of columns x depth.
  void pack_transposed(const float* weights);
  /// Takes over element (k, j) = weights[k * columns + j]: W for dx = dy W, with W of depth x columns.
  void pack(const float* weights);

  std::size_t depth() const { return depth_; }
  std::size_t columns() const { return columns_; }
  Precision precision() const { return precision_; }
  const float* panel(std::size_t index) const { return values_.data() + index * depth_ * kPanel; }
  Bf16Panels bf16_panels() const { return {depth_, columns_, pairs_.data()}; }

 private:
  std::size_t depth_ = 0;
  std::size_t columns_ = 0;
  Precision precision_ = Precision::fp32;
  AlignedVector<float> values_;         // of fp32
  AlignedVector<std::uint32_t> pairs_;  // of bf16
};

/// y (rows x b.columns) = x (rows x b.depth) * b + bias; bias: b.columns values, or nullptr for none. x and y are
/// contiguous and do not overlap.
void multiply(const float* x, std::size_t rows, const PackedMatrix& b, const float* bias, float* y);

/// gradient (outputs x inputs) += dyᵀ x for the outputs [first, last); dy (rows x outputs), x (rows x inputs).
void add_weight_gradient(const float* dy, std::size_t outputs, const float* x, std::size_t inputs, std::size_t rows,
                         std::size_t first, std::size_t last, float* gradient, Precision precision = Precision::fp32);

/// gradient (columns) += the sums of the columns of dy (rows x columns).
void add_column_sums(const float* dy, std::size_t rows, std::size_t columns, float* gradient);

}  // namespace chargpt
