#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/thread_pool.hpp"
#include "chargpt/nn/flat_parameters.hpp"

namespace chargpt {

/// What config.name says, over a model's flat buffers: on the CPU by our own kernels, elsewhere by LibTorch.
///   adamw: Loshchilov and Hutter, "Decoupled weight decay regularization", 2019, algorithm 2
///   sgd:   as torch.optim.SGD, with weight decay added to the gradient, dampening 0, no Nesterov
class Optimizer {
 public:
  /// `parameters` (32-bit floats) must outlive this, and so must `pool`, whose threads share the work on the CPU.
  Optimizer(FlatParameters& parameters, OptimizerConfig config, ThreadPool& pool);

  /// Clips the gradients to config.clip by their global norm, as torch's clip_grad_norm_ does, and updates the values.
  /// `gradient_norm`: from gradient_norm() on the same gradients.
  void step(double learning_rate, double gradient_norm);
  double gradient_norm() const;  ///< Euclidean norm of all gradients together

  /// What it carries from step to step besides their number: a buffer (P) like the flat values for each of
  /// optimizer_state(config), in that order, zeros at first.
  const std::vector<torch::Tensor>& state() const { return state_; }
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }  ///< after restoring the state, or without an update

 private:
  /// Of the elements [begin, end); `factor`: of clipping.
  struct Part {
    std::int64_t begin;
    std::int64_t end;
    double learning_rate;
    double factor;
    double weight_decay;
  };
  void update(const Part& part);
  void adamw(const Part& part);
  void sgd(const Part& part);
  void adamw_by_torch(const Part& part);
  void sgd_by_torch(const Part& part);

  FlatParameters& parameters_;
  OptimizerConfig config_;
  ThreadPool& pool_;
  std::vector<torch::Tensor> state_;
  std::int64_t steps_ = 0;
};

}  // namespace chargpt
