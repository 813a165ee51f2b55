#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/pimpl.h>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// PyTorch's LayerNorm over the last dimension (eps 1e-5), whose bias can be left out.
class LayerNormImpl : public torch::nn::Module {
 public:
  LayerNormImpl(std::int64_t width, bool has_bias);
  torch::Tensor forward(const torch::Tensor& x) const;  ///< (..., C) -> (..., C)

  torch::Tensor weight, bias;  // (C) each; bias undefined if it is left out
};
TORCH_MODULE(LayerNorm);

/// The last Linear(C, V), whose matrix may be the embedding's (Press and Wolf, "Using the output embedding to improve
/// language models", 2017): then it is no parameter of this module. It draws what a Linear of its own would.
class HeadImpl : public torch::nn::Module {
 public:
  HeadImpl(const ModelConfig& config, const torch::nn::Embedding& token_emb);
  torch::Tensor forward(const torch::Tensor& x) const;  ///< (..., C) -> (..., V)

  torch::Tensor weight, bias;  // (V, C), (V); bias undefined if it is left out
};
TORCH_MODULE(Head);

}  // namespace chargpt
