#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>

#include "chargpt/base/config.hpp"
#include "chargpt/nn/dropout.hpp"
#include "chargpt/nn/flat_parameters.hpp"
#include "chargpt/nn/layers.hpp"

namespace chargpt {

// The lecture's CharGPT as modules; member names are the names of the tensors on disk. Dimensions: B windows, T
// positions, C width, H heads, D = C / H head size, V vocabulary. Attention: Vaswani et al., "Attention is all you
// need", 2017, section 3.2; the pre-LN block: Radford et al., "Language models are unsupervised multitask learners",
// 2019.

/// What one layer's forward pass needs besides its input.
struct LayerContext {
  std::int64_t layer;
  const DropoutState& dropout;
};

/// One head: softmax(q kᵀ / sqrt(D), -inf above the diagonal), dropout on the weights, times v.
class MaskedAttentionImpl : public torch::nn::Module {
 public:
  MaskedAttentionImpl(const ModelConfig& config, torch::Tensor lower_triangle);
  /// x (B, T, C) -> (B, T, D); `head` is this head's position, which its dropout mask depends on.
  torch::Tensor forward(const torch::Tensor& x, std::int64_t head, const LayerContext& context) const;

  torch::nn::Linear key = nullptr, query = nullptr, value = nullptr;  // (D, C), no bias
  torch::Tensor tril;  // (T, T) of the configured context; a buffer, shared by all heads

 private:
  std::int64_t heads_;
};
TORCH_MODULE(MaskedAttention);

/// All heads, concatenated and projected. `heads` runs the modules above one by one; `fused` computes q, k and v of all
/// heads in one product over the flat buffer and gives the same numbers.
class MaskedMultiHeadAttentionImpl : public torch::nn::Module {
 public:
  MaskedMultiHeadAttentionImpl(const ModelConfig& config, const torch::Tensor& lower_triangle);
  torch::Tensor forward(const torch::Tensor& x, const LayerContext& context);  ///< (B, T, C) -> (B, T, C)

  torch::nn::ModuleList heads;
  torch::nn::Linear proj = nullptr;  // (C, C)
  torch::Tensor qkv;  // (3C, C): the heads' queries, keys and values as one leaf over the same memory; set by CharGPT
  AttentionPath path;

 private:
  torch::Tensor forward_heads(const torch::Tensor& x, const LayerContext& context);
  torch::Tensor forward_fused(const torch::Tensor& x, const LayerContext& context);
};
TORCH_MODULE(MaskedMultiHeadAttention);

/// Linear(C, 4C), exact GELU (Hendrycks and Gimpel, 2016, with erf), Linear(4C, C), dropout.
class FeedForwardImpl : public torch::nn::Module {
 public:
  explicit FeedForwardImpl(const ModelConfig& config);
  torch::Tensor forward(const torch::Tensor& x, const LayerContext& context) const;  ///< (B, T, C) -> (B, T, C)

  torch::nn::Linear ln1 = nullptr, ln2 = nullptr;
};
TORCH_MODULE(FeedForward);

/// x = x + mha(l1(x)); x = x + ff(l2(x)).
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(const ModelConfig& config, const torch::Tensor& lower_triangle);
  torch::Tensor forward(const torch::Tensor& x, const LayerContext& context);  ///< (B, T, C) -> (B, T, C)

  LayerNorm l1 = nullptr;
  MaskedMultiHeadAttention mha = nullptr;
  LayerNorm l2 = nullptr;
  FeedForward ff = nullptr;
};
TORCH_MODULE(Block);

class CharGPTImpl : public torch::nn::Module {
 public:
  /// Initial weights are PyTorch's defaults, drawn from LibTorch's global CPU generator (seed it with
  /// torch::manual_seed), in the order of the members, whatever the options say; with model.initialization gpt2 all
  /// matrices are then drawn again, in the same order. `options` gives type and device of the buffers.
  CharGPTImpl(const ModelConfig& config, std::int64_t vocabulary, const torch::TensorOptions& options = torch::kFloat);

  /// ids (B, T) of int64, 1 <= T <= context -> logits (B, T, V).
  torch::Tensor forward(const torch::Tensor& ids, const DropoutState& dropout = {});
  /// Logits of the last position alone: (B, V). The head runs on one position instead of T.
  torch::Tensor next_logits(const torch::Tensor& ids);

  FlatParameters& flat() { return flat_; }
  const ModelConfig& config() const { return config_; }
  std::int64_t vocabulary() const { return vocabulary_; }
  torch::Device device() const { return flat_.values().device(); }

  torch::nn::Embedding token_emb = nullptr, pos_emb = nullptr;  // (V, C), (T, C)
  torch::nn::ModuleList blocks;
  LayerNorm l = nullptr;
  Head lm = nullptr;

 private:
  torch::Tensor embed(const torch::Tensor& ids, const DropoutState& dropout);
  torch::Tensor hidden(const torch::Tensor& ids, const DropoutState& dropout);
  void initialize();
  void flatten(const torch::TensorOptions& options);

  ModelConfig config_;
  std::int64_t vocabulary_;
  FlatParameters flat_;
};
TORCH_MODULE(CharGPT);

}  // namespace chargpt
