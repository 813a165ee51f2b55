#pragma once

#include <torch/types.h>

#include <cstdint>

#include "chargpt/base/config.hpp"
#include "chargpt/base/thread_pool.hpp"
#include "chargpt/nn/flat_parameters.hpp"

namespace chargpt {

/// AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019, algorithm 2) over a model's flat
/// buffers: on the CPU by our own kernel, elsewhere by LibTorch's fused one.
class AdamW {
 public:
  /// `parameters` (32-bit floats) must outlive this, and so must `pool`, whose threads share the work on the CPU.
  AdamW(FlatParameters& parameters, OptimizerConfig config, ThreadPool& pool);

  /// Clips the gradients to config.clip by their global norm, as torch's clip_grad_norm_ does, and updates the values.
  /// `gradient_norm`: from gradient_norm() on the same gradients.
  void step(double learning_rate, double gradient_norm);
  double gradient_norm() const;  ///< Euclidean norm of all gradients together

  const torch::Tensor& first_moment() const { return first_moment_; }    ///< (P), like the flat values
  const torch::Tensor& second_moment() const { return second_moment_; }  ///< (P)
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }  ///< after restoring the moments, or without an update

 private:
  void update(std::int64_t begin, std::int64_t end, double learning_rate, double factor, double weight_decay);
  void update_by_torch(std::int64_t begin, std::int64_t end, double learning_rate, double weight_decay);

  FlatParameters& parameters_;
  OptimizerConfig config_;
  ThreadPool& pool_;
  torch::Tensor first_moment_;
  torch::Tensor second_moment_;
  std::int64_t steps_ = 0;
};

}  // namespace chargpt
