#include "chargpt/nn/layers.hpp"

#include <torch/nn/modules/linear.h>
#include <torch/types.h>

namespace chargpt {

LayerNormImpl::LayerNormImpl(std::int64_t width, bool has_bias) {
  weight = register_parameter("weight", torch::ones({width}));
  if (has_bias) bias = register_parameter("bias", torch::zeros({width}));
}

torch::Tensor LayerNormImpl::forward(const torch::Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, 1e-5);
}

HeadImpl::HeadImpl(const ModelConfig& config, const torch::nn::Embedding& token_emb) {
  const torch::Tensor& embedding = token_emb->weight;
  torch::nn::Linear drawn(torch::nn::LinearOptions(config.width, embedding.size(0)).bias(config.bias));
  weight = config.tied_head ? embedding : register_parameter("weight", drawn->weight);
  if (config.bias) bias = register_parameter("bias", drawn->bias);
}

torch::Tensor HeadImpl::forward(const torch::Tensor& x) const { return at::linear(x, weight, bias); }

}  // namespace chargpt
