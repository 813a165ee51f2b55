#pragma once

#include <cstddef>
#include <cstdint>

namespace chargpt {

/// losses[r] = -log softmax(logits[r])[targets[r]], in nats; logits (rows x symbols), targets in [0, symbols).
void cross_entropy(const float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                   float* losses);

/// The same, and the logits become their gradient times `weight`: weight * (softmax - one-hot target).
void cross_entropy_gradient(float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                            float weight, float* losses);

}  // namespace chargpt
