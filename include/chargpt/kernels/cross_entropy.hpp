#pragma once

#include <cstddef>
#include <cstdint>

namespace chargpt {

/// losses[r] = -log softmax(logits[r])[targets[r]], in nats; logits (rows x symbols), targets in [0, symbols).
void cross_entropy(const float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                   float* losses);

/// The loss of a target that has the probability 1 - smoothing, and every symbol, the target included, smoothing /
/// symbols (label smoothing: Szegedy et al., "Rethinking the Inception architecture", 2016, section 7); 0 is the loss
/// above. The logits become their gradient times `weight`: weight * (softmax - that distribution).
void cross_entropy_gradient(float* logits, std::size_t rows, std::size_t symbols, const std::int32_t* targets,
                            float smoothing, float weight, float* losses);

}  // namespace chargpt
