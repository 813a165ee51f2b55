#pragma once

#include <cstddef>

namespace chargpt {

// Layer normalisation over the last dimension (Ba, Kiros, Hinton, "Layer normalization", 2016), epsilon 1e-5, biased
// variance, as PyTorch's LayerNorm.

/// y = normal * weight + bias with normal = (x - mean) / sqrt(variance + epsilon); all (rows x columns), weight and
/// bias (columns; bias nullptr: none). Keeps what the backward pass needs: normal, and 1 / sqrt(variance + epsilon) in
/// inverse_deviation (rows).
void layer_norm(const float* x, std::size_t rows, std::size_t columns, const float* weight, const float* bias,
                float* normal, float* inverse_deviation, float* y);

/// dx += the gradient with respect to x; weight_gradient and bias_gradient (columns; nullptr: there is no bias) +=
/// theirs.
void add_layer_norm_gradient(const float* dy, const float* normal, const float* inverse_deviation, const float* weight,
                             std::size_t rows, std::size_t columns, float* dx, float* weight_gradient,
                             float* bias_gradient);

}  // namespace chargpt
