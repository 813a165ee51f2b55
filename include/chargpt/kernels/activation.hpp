#pragma once

#include <cstddef>
#include <cstdint>

namespace chargpt {

/// y = x * Phi(x), the exact GELU (Hendrycks and Gimpel, "Gaussian error linear units", 2016), in place of x; its
/// derivative Phi(x) + x * phi(x) goes to `derivative` unless that is nullptr. Phi is taken from Abramowitz and Stegun,
/// "Handbook of mathematical functions", 7.1.26: absolute error below 1e-7.
void gelu(float* x, std::size_t count, float* derivative);

/// x *= factor, element by element.
void multiply_by(const float* factor, std::size_t count, float* x);

/// x += y, element by element.
void add_to(const float* y, std::size_t count, float* x);

/// The bits of draw_keep_bits() for several rows, keep_words(columns) a row, and what kept elements are multiplied by.
/// No words: everything is kept, and the scale is 1.
struct KeepBits {
  const std::uint32_t* words = nullptr;
  float scale = 1.0F;
};

/// x += dropout(y); all (rows x columns).
void add_dropped(const float* y, std::size_t rows, std::size_t columns, const KeepBits& keep, float* x);

/// y = dropout(x); all (rows x columns). x == y is allowed.
void copy_dropped(const float* x, std::size_t rows, std::size_t columns, const KeepBits& keep, float* y);

}  // namespace chargpt
