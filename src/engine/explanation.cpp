#include "chargpt/engine/explanation.hpp"

#include <fmt/format.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace chargpt {
namespace {

/// nn::Linear's forward is not const, its holder in a const module is.
torch::Tensor apply(torch::nn::Linear layer, const torch::Tensor& x) { return layer->forward(x); }

/// The pass, written out; every tensor that is named in the lecture passes through show().
class Pass {
 public:
  Pass(CharGPT& model, Explanation& explanation) : model_(model), explanation_(explanation) {}

  torch::Tensor embed(const torch::Tensor& ids) {
    show("ids", ids);                                                                     // (1, T)
    const torch::Tensor token = show("token_emb(ids)", model_->token_emb->forward(ids));  // (1, T, C)
    const torch::Tensor position =
        show("pos_emb(0 .. T - 1)", model_->pos_emb->weight.slice(0, 0, ids.size(1)));  // (T, C)
    return show("x = token_emb(ids) + pos_emb(0 .. T - 1)", token + position);          // (1, T, C)
  }

  torch::Tensor through_block(const torch::Tensor& x, std::int64_t index) {
    Block block = block_at(index);
    prefix_ = fmt::format("blocks.{}.", index);
    const torch::Tensor a = show("l1(x)", block->l1->forward(x));  // (1, T, C)
    const torch::Tensor heads =
        show(fmt::format("cat of the {} heads", block->mha->heads->size()), through_heads(block->mha, a));  // (1, T, C)
    const torch::Tensor y = show("x + mha(l1(x))", x + show("mha.proj", block->mha->proj->forward(heads)));
    const torch::Tensor b = show("l2(x)", block->l2->forward(y));                                // (1, T, C)
    const torch::Tensor wide = show("ff.ln1, then GELU", at::gelu(block->ff->ln1->forward(b)));  // (1, T, 4C)
    const torch::Tensor narrow = show("ff.ln2", block->ff->ln2->forward(wide));                  // (1, T, C)
    return show("x + ff(l2(x))", y + narrow);
  }

  torch::Tensor through_other_blocks(torch::Tensor x, std::int64_t begin, std::int64_t end) const {
    const DropoutState no_dropout;
    for (std::int64_t i = begin; i < end; ++i) x = block_at(i)->forward(x, {i, no_dropout});
    return x;
  }

  torch::Tensor head(const torch::Tensor& x) {
    prefix_ = "";
    return show("lm(l(x)): logits", model_->lm->forward(show("l(x)", model_->l->forward(x))));  // (1, T, V)
  }

 private:
  Block block_at(std::int64_t index) const {
    return Block(std::dynamic_pointer_cast<BlockImpl>(model_->blocks->ptr(static_cast<std::size_t>(index))));
  }

  torch::Tensor show(const std::string& name, const torch::Tensor& tensor) {
    explanation_.shapes.push_back({prefix_ + name, tensor.sizes().vec()});
    return tensor;
  }

  torch::Tensor through_heads(MaskedMultiHeadAttention mha, const torch::Tensor& x) {
    std::vector<torch::Tensor> products, scores, masked, weights, outputs;
    for (std::size_t h = 0; h < mha->heads->size(); ++h) {
      const auto& head = mha->heads->at<MaskedAttentionImpl>(h);
      const torch::Tensor q = apply(head.query, x);       // (1, T, D)
      const torch::Tensor k = apply(head.key, x);         // (1, T, D)
      const torch::Tensor v = apply(head.value, x);       // (1, T, D)
      products.push_back(q.matmul(k.transpose(-2, -1)));  // (1, T, T)
      scores.push_back(products.back() / std::sqrt(static_cast<double>(q.size(-1))));
      const torch::Tensor hidden = head.tril.slice(0, 0, x.size(1)).slice(1, 0, x.size(1)) == 0;
      masked.push_back(scores.back().masked_fill(hidden, -std::numeric_limits<double>::infinity()));
      weights.push_back(at::softmax(masked.back(), -1));
      outputs.push_back(weights.back().matmul(v));  // (1, T, D)
      if (h > 0) continue;                          // all heads have the same shapes
      show("mha.heads.0.query(l1(x)): q", q);
      show("mha.heads.0.key(l1(x)): k", k);
      show("mha.heads.0.value(l1(x)): v", v);
      show("mha.heads.0: softmax(masked q @ k.T / sqrt(D))", weights.back());
      show("mha.heads.0: softmax(...) @ v", outputs.back());
    }
    const auto kept = [](const std::vector<torch::Tensor>& of_heads) {
      return torch::cat(of_heads, 0).to(torch::kDouble).cpu();
    };
    explanation_.products = kept(products);
    explanation_.scores = kept(scores);
    explanation_.masked = kept(masked);
    explanation_.weights = kept(weights);
    return torch::cat(outputs, -1);
  }

  CharGPT& model_;
  Explanation& explanation_;
  std::string prefix_;
};

/// Mean over the rows but the first, which can only look at itself, of the largest weight.
double mean_largest(const torch::Tensor& weights) { return weights.slice(0, 1).amax(-1).mean().item<double>(); }

HeadStatistics statistics(const torch::Tensor& products, const torch::Tensor& scores, const torch::Tensor& weights) {
  const torch::Tensor seen = torch::ones_like(products).tril() == 1;
  const torch::Tensor unscaled = products.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
  const auto variance = [&](const torch::Tensor& of) {
    return of.masked_select(seen).var(/*unbiased=*/false).item<double>();
  };
  return {variance(products), variance(scores), mean_largest(at::softmax(unscaled, -1)), mean_largest(weights)};
}

}  // namespace

Explanation explain(CharGPT& model, std::span<const std::int32_t> ids, std::int64_t block) {
  const torch::NoGradGuard no_grad;
  torch::Tensor row = torch::empty({1, static_cast<std::int64_t>(ids.size())}, torch::kLong);
  std::copy(ids.begin(), ids.end(), row.data_ptr<std::int64_t>());
  Explanation explanation;
  Pass pass(model, explanation);
  torch::Tensor x = pass.embed(row.to(model->device()));
  x = pass.through_other_blocks(x, 0, block);
  x = pass.through_block(x, block);
  x = pass.through_other_blocks(x, block + 1, model->config().layers);
  const torch::Tensor logits = pass.head(x);
  explanation.next = at::softmax(logits[0][-1].to(torch::kDouble), -1).cpu();
  for (std::int64_t h = 0; h < explanation.products.size(0); ++h) {
    explanation.heads.push_back(statistics(explanation.products[h], explanation.scores[h], explanation.weights[h]));
  }
  return explanation;
}

}  // namespace chargpt
