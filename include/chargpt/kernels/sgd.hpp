#pragma once

#include <cstddef>

namespace chargpt {

/// One step of stochastic gradient descent with momentum and weight decay as torch.optim.SGD defines them (dampening 0,
/// no Nesterov): with g = gradient * gradient_factor + weight_decay * value,
///   momentum_buffer = momentum * momentum_buffer + g;   value -= learning_rate * momentum_buffer
/// which begins with a buffer of zeros.
struct SgdStep {
  float learning_rate;
  float momentum;
  float weight_decay;
  float gradient_factor;  ///< of clipping
};

/// Updates `count` values and momenta; without `momentum_buffer` (nullptr) the momentum must be 0.
void sgd(const SgdStep& step, const float* gradients, std::size_t count, float* values, float* momentum_buffer);

}  // namespace chargpt
