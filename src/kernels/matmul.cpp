#include "chargpt/kernels/matmul.hpp"

#include <algorithm>
#include <stdexcept>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cpp"  // relative to src/: Highway includes this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chargpt {
namespace HWY_NAMESPACE {

inline constexpr std::size_t kPanel = PackedMatrix::kPanel;

/// Some columns of y that do not fill a panel: computed aside, then copied.
void multiply_edge(const float* x, std::size_t rows, std::size_t depth, Right b, const float* bias, std::size_t count,
                   Result y) {
  constexpr std::size_t kRows = 48;
  const Float d;
  const std::size_t unit = 2 * hn::Lanes(d);
  float whole_bias[kPanel] = {};
  if (bias != nullptr) std::copy_n(bias, count, whole_bias);
  float aside[kRows * kPanel];
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t here = std::min(kRows, rows - begin);
    for (std::size_t c = 0; c < count; c += unit) {
      tiles<2, Start::bias>(d, here, depth, {x + begin * depth, depth, 1}, {b.data + c, b.step}, whole_bias + c,
                            {aside + c, kPanel});
    }
    for (std::size_t i = 0; i < here; ++i) {
      std::copy_n(aside + i * kPanel, count, y.data + (begin + i) * y.row);
    }
  }
}

void multiply_panels(const float* x, std::size_t rows, const PackedMatrix& b, const float* bias, float* y) {
  const Float d;
  const std::size_t unit = 2 * hn::Lanes(d), depth = b.depth(), columns = b.columns();
  for (std::size_t first = 0; first < columns; first += kPanel) {
    const float* panel = b.panel(first / kPanel);
    const std::size_t count = std::min(kPanel, columns - first);
    const float* panel_bias = bias == nullptr ? nullptr : bias + first;
    if (count < kPanel) {
      multiply_edge(x, rows, depth, {panel, kPanel}, panel_bias, count, {y + first, columns});
      continue;
    }
    for (std::size_t c = 0; c < kPanel; c += unit) {
      const Left left{x, depth, 1};
      const Right right{panel + c, kPanel};
      const Result result{y + first + c, columns};
      if (bias == nullptr) {
        tiles<2, Start::zero>(d, rows, depth, left, right, nullptr, result);
      } else {
        tiles<2, Start::bias>(d, rows, depth, left, right, panel_bias + c, result);
      }
    }
  }
}

inline constexpr std::size_t kGradientRows = 64;  // of dy and x that stay in the first-level cache

/// The last columns of a gradient, fewer than two vectors: the operands are copied aside, filled up with zeros.
/// rows <= kGradientRows.
void gradient_edge(Left dy, std::size_t outputs, const float* x, std::size_t inputs, std::size_t rows,
                   std::size_t count, float* gradient) {
  const Float d;
  float right[kGradientRows * kPanel] = {};
  float sums[kTileRows * kPanel] = {};
  const std::size_t unit = 2 * hn::Lanes(d);
  for (std::size_t k = 0; k < rows; ++k) std::copy_n(x + k * inputs, count, right + k * unit);
  for (std::size_t n = 0; n < outputs; n += kTileRows) {
    const std::size_t here = std::min(kTileRows, outputs - n);
    for (std::size_t i = 0; i < here; ++i) std::copy_n(gradient + (n + i) * inputs, count, sums + i * unit);
    tiles<2, Start::sum>(d, here, rows, {dy.data + n, dy.row, dy.step}, {right, unit}, nullptr, {sums, unit});
    for (std::size_t i = 0; i < here; ++i) std::copy_n(sums + i * unit, count, gradient + (n + i) * inputs);
  }
}

void weight_gradient(const float* dy, std::size_t outputs, const float* x, std::size_t inputs, std::size_t rows,
                     std::size_t first, std::size_t last, float* gradient) {
  const Float d;
  const std::size_t unit = 2 * hn::Lanes(d);
  const std::size_t whole = inputs / unit * unit;
  float* from = gradient + first * inputs;
  for (std::size_t begin = 0; begin < rows; begin += kGradientRows) {
    const std::size_t depth = std::min(kGradientRows, rows - begin);
    const Left left{dy + begin * outputs + first, 1, outputs};
    for (std::size_t k = 0; k < whole; k += unit) {
      tiles<2, Start::sum>(d, last - first, depth, left, {x + begin * inputs + k, inputs}, nullptr, {from + k, inputs});
    }
    if (whole == inputs) continue;
    gradient_edge(left, last - first, x + begin * inputs + whole, inputs, depth, inputs - whole, from + whole);
  }
}

void column_sums(const float* dy, std::size_t rows, std::size_t columns, float* gradient) {
  const Float d;
  std::size_t c = 0;
  for (; c + hn::Lanes(d) <= columns; c += hn::Lanes(d)) {
    auto sum = hn::LoadU(d, gradient + c);
    for (std::size_t i = 0; i < rows; ++i) sum = hn::Add(sum, hn::LoadU(d, dy + i * columns + c));
    hn::StoreU(sum, d, gradient + c);
  }
  for (; c < columns; ++c) {
    for (std::size_t i = 0; i < rows; ++i) gradient[c] += dy[i * columns + c];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace chargpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chargpt {

HWY_EXPORT(multiply_panels);
HWY_EXPORT(weight_gradient);
HWY_EXPORT(column_sums);

PackedMatrix::PackedMatrix(std::size_t depth, std::size_t columns, Precision precision)
    : depth_(depth), columns_(columns), precision_(precision) {
  const std::size_t filled_up = (columns + kPanel - 1) / kPanel * kPanel;
  switch (precision) {
    case Precision::fp32:
      values_.resize(filled_up * depth);
      break;
    case Precision::bf16:
      if (bf16_units().empty()) throw std::logic_error("a bf16 matrix on a processor without bf16 products");
      pairs_.resize(filled_up * bf16_pairs(depth));
      break;
  }
}

void PackedMatrix::pack_transposed(const float* weights) {
  if (precision_ == Precision::bf16) return bf16_pack_transposed(weights, depth_, columns_, pairs_.data());
  for (std::size_t j = 0; j < columns_; ++j) {
    float* column = values_.data() + j / kPanel * kPanel * depth_ + j % kPanel;
    for (std::size_t k = 0; k < depth_; ++k) column[k * kPanel] = weights[j * depth_ + k];
  }
}

void PackedMatrix::pack(const float* weights) {
  if (precision_ == Precision::bf16) return bf16_pack(weights, depth_, columns_, pairs_.data());
  for (std::size_t first = 0; first < columns_; first += kPanel) {
    const std::size_t count = std::min(kPanel, columns_ - first);
    float* panel = values_.data() + first * depth_;
    for (std::size_t k = 0; k < depth_; ++k) std::copy_n(weights + k * columns_ + first, count, panel + k * kPanel);
  }
}

void multiply(const float* x, std::size_t rows, const PackedMatrix& b, const float* bias, float* y) {
  if (b.precision() == Precision::bf16) return bf16_multiply(bf16_units().front(), x, rows, b.bf16_panels(), bias, y);
  HWY_DYNAMIC_DISPATCH(multiply_panels)(x, rows, b, bias, y);
}

void add_weight_gradient(const float* dy, std::size_t outputs, const float* x, std::size_t inputs, std::size_t rows,
                         std::size_t first, std::size_t last, float* gradient, Precision precision) {
  if (precision == Precision::bf16) {
    return bf16_add_weight_gradient(bf16_units().front(), dy, outputs, x, inputs, rows, first, last, gradient);
  }
  HWY_DYNAMIC_DISPATCH(weight_gradient)(dy, outputs, x, inputs, rows, first, last, gradient);
}

void add_column_sums(const float* dy, std::size_t rows, std::size_t columns, float* gradient) {
  HWY_DYNAMIC_DISPATCH(column_sums)(dy, rows, columns, gradient);
}

}  // namespace chargpt
#endif  // HWY_ONCE
