#pragma once

#include <c10/core/Device.h>
#include <torch/types.h>

#include <string>
#include <vector>

namespace chargpt {

/// A number that was computed in two ways.
struct Check {
  std::string name;
  double error;                                       ///< largest difference, relative to the largest value wanted
  double tolerance;                                   ///< largest error that passes
  bool passed() const { return error <= tolerance; }  ///< false for a NaN
};

/// Compares tensors of one shape, in double. An element that is not finite fails the check.
Check compare(const std::string& name, const torch::Tensor& got, const torch::Tensor& wanted, double tolerance);

/// The program's own random generator, attention paths and gradients on one device, in a few seconds:
/// Philox gives the published answers; every attention path in fp32 gives the logits and gradients of the lecture's
/// modules in double, with and without dropout; those gradients are the finite differences of the loss;
/// and on the CPU the logits from kept keys and values are those of whole passes, bit for bit. Of the lecture's network
/// and of the one with a tied head, without biases and with dropout of the embeddings.
std::vector<Check> check_numerics(c10::Device device);

}  // namespace chargpt
