#include "chargpt/nn/char_gpt.hpp"

#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>

namespace chargpt {
namespace {

namespace nn = torch::nn;

/// nn::Linear's own forward adds the bias of a 3-D input in a second pass.
torch::Tensor linear(const nn::Linear& layer, const torch::Tensor& x) {
  return at::linear(x, layer->weight, layer->bias);
}

nn::Linear make_linear(std::int64_t in, std::int64_t out, bool bias) {
  return nn::Linear(nn::LinearOptions(in, out).bias(bias));
}

/// Dropout of hidden activations (B, T, C).
torch::Tensor hidden_dropout(const torch::Tensor& x, const DropoutMask& mask, const DropoutState& state) {
  const std::int64_t T = x.size(1);
  return dropout(x, mask, {state.first_window * T, T, T});
}

torch::Tensor hidden_dropout(const torch::Tensor& x, DropoutPlace place, const LayerContext& context) {
  return hidden_dropout(x, context.dropout.mask(context.layer, place), context.dropout);
}

/// Of weights that GPT-2 draws: less for those whose results are added up along the residual stream.
double gpt2_deviation(const std::string& name, std::int64_t layers) {
  const bool residual = name.ends_with("mha.proj.weight") || name.ends_with("ff.ln2.weight");
  return residual ? 0.02 / std::sqrt(2.0 * static_cast<double>(layers)) : 0.02;
}

}  // namespace

MaskedAttentionImpl::MaskedAttentionImpl(const ModelConfig& config, torch::Tensor lower_triangle)
    : heads_(config.heads) {
  key = register_module("key", make_linear(config.width, config.head_size(), false));
  query = register_module("query", make_linear(config.width, config.head_size(), false));
  value = register_module("value", make_linear(config.width, config.head_size(), false));
  tril = register_buffer("tril", std::move(lower_triangle));
}

torch::Tensor MaskedAttentionImpl::forward(const torch::Tensor& x, std::int64_t head,
                                           const LayerContext& context) const {
  const std::int64_t T = x.size(1);
  const torch::Tensor q = linear(query, x);                                                           // (B, T, D)
  const torch::Tensor k = linear(key, x);                                                             // (B, T, D)
  const torch::Tensor v = linear(value, x);                                                           // (B, T, D)
  torch::Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));  // (B, T, T)
  const torch::Tensor hidden = tril.slice(0, 0, T).slice(1, 0, T) == 0;
  scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  const MaskRows rows{(context.dropout.first_window * heads_ + head) * T, T, heads_ * T};
  const auto mask = context.dropout.mask(context.layer, DropoutPlace::attention_weights);
  return dropout(at::softmax(scores, -1), mask, rows).matmul(v);  // (B, T, D)
}

MaskedMultiHeadAttentionImpl::MaskedMultiHeadAttentionImpl(const ModelConfig& config,
                                                           const torch::Tensor& lower_triangle)
    : path(config.attention) {
  register_module("heads", heads);
  for (std::int64_t h = 0; h < config.heads; ++h) heads->push_back(MaskedAttention(config, lower_triangle));
  proj = register_module("proj", make_linear(config.width, config.width, config.bias));
}

torch::Tensor MaskedMultiHeadAttentionImpl::forward_heads(const torch::Tensor& x, const LayerContext& context) {
  std::vector<torch::Tensor> outputs;
  for (std::size_t h = 0; h < heads->size(); ++h) {
    outputs.push_back(heads->at<MaskedAttentionImpl>(h).forward(x, static_cast<std::int64_t>(h), context));
  }
  return torch::cat(outputs, -1);  // (B, T, C)
}

torch::Tensor MaskedMultiHeadAttentionImpl::forward_fused(const torch::Tensor& x, const LayerContext& context) {
  const std::int64_t B = x.size(0), T = x.size(1), C = x.size(2), H = static_cast<std::int64_t>(heads->size());
  const std::int64_t D = C / H;
  const auto parts = at::linear(x, qkv).view({B, T, 3, H, D}).permute({2, 0, 3, 1, 4}).unbind(0);  // 3 x (B, H, T, D)
  const auto mask = context.dropout.mask(context.layer, DropoutPlace::attention_weights);
  torch::Tensor y;  // (B, H, T, D)
  if (mask.p == 0.0) {
    y = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
  } else {
    const torch::Tensor hidden = heads->at<MaskedAttentionImpl>(0).tril.slice(0, 0, T).slice(1, 0, T) == 0;
    torch::Tensor scores = parts[0].matmul(parts[1].transpose(-2, -1)) / std::sqrt(static_cast<double>(D));
    scores.masked_fill_(hidden, -std::numeric_limits<double>::infinity());  // (B, H, T, T)
    const MaskRows rows{context.dropout.first_window * H * T, T, T};
    y = dropout(at::softmax(scores, -1), mask, rows).matmul(parts[2]);
  }
  return y.transpose(1, 2).reshape({B, T, C});
}

torch::Tensor MaskedMultiHeadAttentionImpl::forward(const torch::Tensor& x, const LayerContext& context) {
  torch::Tensor y;
  switch (path) {
    case AttentionPath::heads:
      y = forward_heads(x, context);
      break;
    case AttentionPath::automatic:
    case AttentionPath::fused:
    case AttentionPath::native:  // the kernels do without modules; asked all the same, these compute what they do
      y = forward_fused(x, context);
      break;
  }
  return hidden_dropout(linear(proj, y), DropoutPlace::projection, context);
}

FeedForwardImpl::FeedForwardImpl(const ModelConfig& config) {
  ln1 = register_module("ln1", make_linear(config.width, 4 * config.width, config.bias));
  ln2 = register_module("ln2", make_linear(4 * config.width, config.width, config.bias));
}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x, const LayerContext& context) const {
  const torch::Tensor y = linear(ln2, at::gelu(linear(ln1, x)));
  return hidden_dropout(y, DropoutPlace::feed_forward, context);
}

BlockImpl::BlockImpl(const ModelConfig& config, const torch::Tensor& lower_triangle) {
  l1 = register_module("l1", LayerNorm(config.width, config.bias));
  mha = register_module("mha", MaskedMultiHeadAttention(config, lower_triangle));
  l2 = register_module("l2", LayerNorm(config.width, config.bias));
  ff = register_module("ff", FeedForward(config));
}

torch::Tensor BlockImpl::forward(const torch::Tensor& x, const LayerContext& context) {
  const torch::Tensor y = x + mha->forward(l1->forward(x), context);
  return y + ff->forward(l2->forward(y), context);
}

CharGPTImpl::CharGPTImpl(const ModelConfig& config, std::int64_t vocabulary, const torch::TensorOptions& options)
    : config_(config), vocabulary_(vocabulary) {
  token_emb = register_module("token_emb", nn::Embedding(vocabulary, config.width));
  pos_emb = register_module("pos_emb", nn::Embedding(config.context, config.width));
  register_module("blocks", blocks);
  const torch::Tensor lower_triangle = torch::tril(torch::ones({config.context, config.context}, options.device()));
  for (std::int64_t i = 0; i < config.layers; ++i) blocks->push_back(Block(config, lower_triangle));
  l = register_module("l", LayerNorm(config.width, config.bias));
  lm = register_module("lm", Head(config, token_emb));
  initialize();
  flatten(options);
}

void CharGPTImpl::initialize() {
  switch (config_.initialization) {
    case Initialization::pytorch:  // as the modules drew them
      return;
    case Initialization::gpt2:
      break;
  }
  const torch::NoGradGuard no_grad;
  for (const auto& parameter : named_parameters()) {
    torch::Tensor values = parameter.value();
    if (values.dim() == 2) {
      values.normal_(0.0, gpt2_deviation(parameter.key(), config_.layers));
    } else if (parameter.key().ends_with("bias")) {
      values.zero_();
    }
  }
}

void CharGPTImpl::flatten(const torch::TensorOptions& options) {
  flat_ = FlatParameters(ParameterLayout(config_, vocabulary_), named_parameters(), options);
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const std::int64_t offset = flat_.layout().offset(block_prefix(i) + "mha.heads.0.query.weight");
    const torch::Tensor qkv = flat_.leaf(offset, 3 * config_.width, config_.width);
    blocks->at<BlockImpl>(static_cast<std::size_t>(i)).mha->qkv = qkv;
  }
}

torch::Tensor CharGPTImpl::embed(const torch::Tensor& ids, const DropoutState& dropout_state) {
  const torch::Tensor positions = pos_emb->weight.slice(0, 0, ids.size(1));   // (T, C)
  const torch::Tensor x = at::embedding(token_emb->weight, ids) + positions;  // (B, T, C)
  return config_.embedding_dropout ? hidden_dropout(x, dropout_state.embedding_mask(), dropout_state) : x;
}

torch::Tensor CharGPTImpl::hidden(const torch::Tensor& ids, const DropoutState& dropout_state) {
  torch::Tensor x = embed(ids, dropout_state);  // (B, T, C)
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    x = blocks->at<BlockImpl>(i).forward(x, {static_cast<std::int64_t>(i), dropout_state});
  }
  return x;
}

torch::Tensor CharGPTImpl::forward(const torch::Tensor& ids, const DropoutState& dropout_state) {
  return lm->forward(l->forward(hidden(ids, dropout_state)));  // (B, T, V)
}

torch::Tensor CharGPTImpl::next_logits(const torch::Tensor& ids) {
  const torch::Tensor x = hidden(ids, {}).select(1, ids.size(1) - 1);  // (B, C)
  return lm->forward(l->forward(x));
}

}  // namespace chargpt
