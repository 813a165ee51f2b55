#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/kernels/dropout.hpp"
#include "chargpt/kernels/network_weights.hpp"

namespace chargpt {

/// Some windows of equal length: ids and the ids that follow them, both (windows, length), in [0, vocabulary).
struct TokenBatch {
  std::int64_t windows = 0;
  std::int64_t length = 0;  ///< 1 <= length <= context
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> targets;
};

/// The memory of one sequence on its way through the network; see network.cpp.
class Activations;

/// CharGPT on the CPU by our own kernels, on the flat buffers of ParameterLayout, in 32-bit floats. A thread takes one
/// sequence through the whole network and back, while its activations stay in the cache; the gradients of the weights
/// are then summed over the sequences in their order, so that no result depends on the number of threads, nor, but for
/// the rounding of a pass's share, on how a batch is split into passes.
class Network {
 public:
  /// precision: of the matrix products' operands; attention and all else are of 32-bit floats. std::logic_error for
  /// bf16 where bf16_units() is empty.
  Network(const ModelConfig& config, std::int64_t vocabulary, ThreadPool& pool, Precision precision = Precision::fp32);
  ~Network();

  /// Takes over the weights at `values` (layout().size() floats, which must outlive this object): to be called after
  /// each change of them, with `training` before accumulate_gradients().
  void load(const float* values, bool training) { weights_.load(values, training, pool_); }

  /// Adds the gradient of share * (mean loss of the batch) to `gradients` (layout().size()). Returns the mean loss, in
  /// nats. `label_smoothing`: see cross_entropy_gradient(). std::logic_error where the weights were not loaded
  /// for training.
  double accumulate_gradients(const TokenBatch& batch, const DropoutState& dropout, double share, float* gradients,
                              double label_smoothing = 0.0);

  /// Bytes of the activations that accumulate_gradients() keeps at a time for a batch of `windows` whole windows.
  static std::int64_t training_bytes(const ModelConfig& config, std::int64_t vocabulary, int threads,
                                     std::int64_t windows);

  /// Loss in nats of each target: (windows, length).
  std::vector<float> losses(const TokenBatch& batch);

  /// Logits of all positions, written to `logits` (windows, length, vocabulary).
  void logits(const TokenBatch& batch, const DropoutState& dropout, std::span<float> logits);

  const ParameterLayout& layout() const { return weights_.layout(); }

 private:
  /// A part of the gradient of a product's weights: outputs [first, last).
  struct GradientTask {
    std::size_t product;
    std::int64_t first;
    std::int64_t last;
  };
  struct Scratch;

  void reserve(std::size_t sequences, std::int64_t length, bool training, bool dropout);
  void normalise(std::size_t norm, Activations& a, float* y) const;
  void draw_masks(std::int64_t layer, const DropoutState& dropout, std::int64_t window, Activations& a) const;
  void embed(const std::int32_t* ids, const DropoutState& dropout, std::int64_t window, Activations& a) const;
  void forward_block(std::size_t layer, Activations& a, Scratch& scratch) const;
  void forward(const std::int32_t* ids, const DropoutState& dropout, std::int64_t window, Activations& a,
               Scratch& scratch) const;
  void backward_product(std::size_t product, Activations& a, float* dx) const;
  void backward_norm(std::size_t norm, const float* dy, Activations& a) const;
  void backward_block(std::size_t layer, Activations& a, Scratch& scratch) const;
  void backward(Activations& a, Scratch& scratch) const;
  void add_gradients(const TokenBatch& batch, std::int64_t first, std::int64_t count, float* gradients);
  void add_vector_gradients(const TokenBatch& batch, std::int64_t first, std::int64_t count, float* gradients) const;
  void add_token_gradients(const std::int32_t* ids, const Activations& a, std::int64_t first, std::int64_t last,
                           float* gradients) const;

  ModelConfig config_;
  std::int64_t vocabulary_;
  ThreadPool& pool_;
  NetworkWeights weights_;
  std::vector<GradientTask> tasks_;
  std::vector<std::unique_ptr<Activations>> activations_;
  std::vector<Scratch> scratch_;  // one a thread
};

}  // namespace chargpt
