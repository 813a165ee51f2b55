#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/parameter_layout.hpp"
#include "chargpt/base/thread_pool.hpp"
#include "chargpt/kernels/dropout.hpp"
#include "chargpt/kernels/matmul.hpp"

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
/// are then summed over the sequences in their order, so that no result depends on the number of threads, on how a
/// batch is split into passes, or on what else is in it.
class Network {
 public:
  Network(const ModelConfig& config, std::int64_t vocabulary, ThreadPool& pool);
  ~Network();

  /// Takes over the weights at `values` (layout().size() floats, which must outlive this object): to be called after
  /// each change of them, with `training` before accumulate_gradients().
  void load(const float* values, bool training);

  /// Adds the gradient of share * (mean loss of the batch) to `gradients` (layout().size()). Returns the mean loss, in
  /// nats.
  double accumulate_gradients(const TokenBatch& batch, const DropoutState& dropout, double share, float* gradients);

  /// Loss in nats of each target: (windows, length).
  std::vector<float> losses(const TokenBatch& batch);

  /// Logits of all positions, written to `logits` (windows, length, vocabulary).
  void logits(const TokenBatch& batch, const DropoutState& dropout, std::span<float> logits);

  const ParameterLayout& layout() const { return layout_; }

 private:
  /// One Linear layer: where its weights and bias lie, and the weights packed for both directions.
  struct Product {
    std::int64_t weights;
    std::int64_t bias;  ///< -1: none
    std::int64_t inputs;
    std::int64_t outputs;
    PackedMatrix forward;
    PackedMatrix backward;
  };
  /// A part of the gradient of a product's weights: outputs [first, last).
  struct GradientTask {
    std::size_t product;
    std::int64_t first;
    std::int64_t last;
  };
  struct Scratch;

  void add_product(const std::string& weights, const std::string& bias, std::int64_t outputs, std::int64_t inputs);
  const float* bias(const Product& product) const;
  void reserve(std::size_t sequences, std::int64_t length, bool training);
  void normalise(std::size_t norm, Activations& a, float* y) const;
  void draw_masks(std::int64_t layer, const DropoutState& dropout, std::int64_t window, Activations& a) const;
  void forward_block(std::size_t layer, Activations& a, Scratch& scratch) const;
  void forward(const std::int32_t* ids, const DropoutState& dropout, std::int64_t window, Activations& a,
               Scratch& scratch) const;
  void backward_product(std::size_t product, Activations& a, float* dx) const;
  void backward_norm(std::size_t norm, const float* dy, Activations& a) const;
  void backward_block(std::size_t layer, Activations& a, Scratch& scratch) const;
  void backward(Activations& a, Scratch& scratch) const;
  void add_gradients(const TokenBatch& batch, std::int64_t first, std::int64_t count, float* gradients);
  void add_vector_gradients(const TokenBatch& batch, std::int64_t first, std::int64_t count, float* gradients) const;

  ModelConfig config_;
  std::int64_t vocabulary_;
  ParameterLayout layout_;
  ThreadPool& pool_;
  const float* values_ = nullptr;
  std::vector<Product> products_;    // four a block (qkv, proj, ln1, ln2), then lm
  std::vector<std::int64_t> norms_;  // where the weights of l1 and l2 of each block, then of l, lie
  std::vector<GradientTask> tasks_;
  std::vector<std::unique_ptr<Activations>> activations_;
  std::vector<Scratch> scratch_;  // one a thread
};

}  // namespace chargpt
