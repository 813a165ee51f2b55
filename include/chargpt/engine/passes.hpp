#pragma once

#include <memory>
#include <span>
#include <vector>

#include "chargpt/kernels/network.hpp"
#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {

/// The passes through a model that training, evaluation and sampling consist of, on the path its config asks for:
/// through the modules with LibTorch's autograd, or through our own kernels.
class Passes {
 public:
  /// `automatic` is settled here: native for 32-bit floats on the CPU, else fused. Error(usage) when the config asks
  /// for native and the model is on another device, or for bf16 products where there are none. Our own kernels use
  /// at::get_num_threads() threads; of `run` its precision and pin count.
  explicit Passes(CharGPT model, const RunConfig& run = {});

  CharGPT& model() { return model_; }
  AttentionPath path() const { return path_; }
  ThreadPool& pool() { return *pool_; }

  /// Tells that the weights may have changed: to be called before the first of the passes below and after each change,
  /// with `training` before accumulate_gradients().
  void read_weights(bool training);

  /// Adds the gradient of share * (mean loss of the batch) to the model's flat gradients. Returns share * (mean loss),
  /// in nats. `label_smoothing`: see cross_entropy_gradient().
  double accumulate_gradients(const TokenBatch& batch, const DropoutState& dropout, double share,
                              double label_smoothing = 0.0);

  /// Logits (windows, length, V) of the model's type, on its device, without gradients.
  torch::Tensor logits(const TokenBatch& batch, const DropoutState& dropout = {});

  /// Loss in nats of each target: (windows, length). No dropout.
  std::vector<float> losses(const TokenBatch& batch);

 private:
  torch::Tensor module_losses(const TokenBatch& batch, const DropoutState& dropout, at::Reduction::Reduction reduction,
                              double label_smoothing = 0.0);

  CharGPT model_;
  AttentionPath path_;
  std::unique_ptr<ThreadPool> pool_;  // on the heap, since the network refers to it
  std::unique_ptr<Network> network_;  // of the native path
};

}  // namespace chargpt
