#include "chargpt/kernels/network.hpp"

#include <algorithm>
#include <stdexcept>

#include "chargpt/kernels/activation.hpp"
#include "chargpt/kernels/attention.hpp"
#include "chargpt/kernels/cross_entropy.hpp"
#include "chargpt/kernels/layer_norm.hpp"
#include "kernels/activations.hpp"

namespace chargpt {
namespace {

/// Activations of the sequences whose weight gradients are summed together: more do not make anything faster.
constexpr std::size_t kActivationBytes = std::size_t{128} << 20U;

/// Outputs of a product whose weight gradient is one task.
constexpr std::int64_t kGradientOutputs = 192;

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

/// How many go through the network before their weight gradients are summed.
std::size_t sequences_together(const ModelConfig& config, std::int64_t vocabulary, std::int64_t length, int threads) {
  const std::size_t bytes = Activations::training_bytes(config, vocabulary, length);
  return std::max(kActivationBytes / bytes / index(threads), std::size_t{1}) * index(threads);
}

}  // namespace

/// Memory of a thread for what no one needs afterwards.
struct Network::Scratch {
  AlignedVector<float> result;  // (T, 4C)
  AlignedVector<float> attention;
};

Network::Network(const ModelConfig& config, std::int64_t vocabulary, ThreadPool& pool, Precision precision)
    : config_(config), vocabulary_(vocabulary), pool_(pool), weights_(config, vocabulary, precision) {
  for (std::size_t p = 0; p < weights_.products().size(); ++p) {
    const auto outputs = static_cast<std::int64_t>(weights_.products()[p].outputs);
    const std::int64_t parts = (outputs + kGradientOutputs - 1) / kGradientOutputs;
    for (std::int64_t part = 0; part < parts; ++part) {
      tasks_.push_back({p, part * outputs / parts, (part + 1) * outputs / parts});
    }
  }
}

Network::~Network() = default;

void Network::reserve(std::size_t sequences, std::int64_t length, bool training, bool dropout) {
  using Use = Activations::Use;
  const Use use = dropout ? Use::training_with_dropout : training ? Use::training : Use::inference;
  const bool fits = !activations_.empty() && activations_[0]->positions == index(length) && activations_[0]->use == use;
  if (!fits) {
    activations_.clear();
    Scratch scratch;
    scratch.result.resize(index(length * 4 * config_.width));
    scratch.attention.resize(attention_scratch({index(length), index(config_.heads), index(config_.head_size())}));
    scratch_.assign(index(pool_.threads()), scratch);
  }
  while (activations_.size() < sequences) {
    activations_.push_back(std::make_unique<Activations>(config_, vocabulary_, length, use));
  }
}

void Network::normalise(std::size_t norm, Activations& a, float* y) const {
  layer_norm(a.x.data(), a.positions, index(config_.width), weights_.norm_weight(norm), weights_.norm_bias(norm),
             a.normal[norm], a.inverse_deviation[norm], y);
}

void Network::draw_masks(std::int64_t layer, const DropoutState& dropout, std::int64_t window, Activations& a) const {
  const Activations::Block& block = a.blocks[index(layer)];
  const auto T = static_cast<std::uint32_t>(a.positions);
  const auto w = static_cast<std::uint32_t>(window);
  draw_attention_bits(a.attention, dropout.mask(layer, DropoutPlace::attention_weights),
                      w * static_cast<std::uint32_t>(config_.heads) * T, T, block.attention_keep);
  const std::size_t C = index(config_.width);
  for (std::uint32_t t = 0; t < T; ++t) {
    draw_keep_bits(dropout.mask(layer, DropoutPlace::projection), w * T + t, C,
                   block.projection_keep + t * keep_words(C));
    draw_keep_bits(dropout.mask(layer, DropoutPlace::feed_forward), w * T + t, C,
                   block.feed_forward_keep + t * keep_words(C));
  }
}

void Network::forward_block(std::size_t layer, Activations& a, Scratch& scratch) const {
  const std::size_t C = index(config_.width), p = 4 * layer;
  const Activations::Block& block = a.blocks[layer];
  const float scale = block.attention_keep == nullptr ? 1.0F : a.keep_scale;
  const auto& products = weights_.products();
  float* result = scratch.result.data();

  normalise(2 * layer, a, a.inputs[p]);
  multiply(a.inputs[p], a.positions, products[p].forward, nullptr, a.dy[p]);  // (T, 3C)
  attention(a.attention, a.dy[p], {block.attention_keep, scale}, block.statistics, scratch.attention.data(),
            a.inputs[p + 1]);
  multiply(a.inputs[p + 1], a.positions, products[p + 1].forward, weights_.bias(p + 1), result);
  add_dropped(result, a.positions, C, {block.projection_keep, scale}, a.x.data());

  normalise(2 * layer + 1, a, a.inputs[p + 2]);
  multiply(a.inputs[p + 2], a.positions, products[p + 2].forward, weights_.bias(p + 2), a.inputs[p + 3]);  // (T, 4C)
  gelu(a.inputs[p + 3], a.positions * 4 * C, a.dy[p + 2]);
  multiply(a.inputs[p + 3], a.positions, products[p + 3].forward, weights_.bias(p + 3), result);
  add_dropped(result, a.positions, C, {block.feed_forward_keep, scale}, a.x.data());
}

void Network::embed(const std::int32_t* ids, const DropoutState& dropout, std::int64_t window, Activations& a) const {
  const std::size_t C = index(config_.width), words = keep_words(C);
  const float* tokens = weights_.token_embedding();
  const float* positions = weights_.position_embedding();
  for (std::size_t t = 0; t < a.positions; ++t) {
    std::copy_n(tokens + index(ids[t]) * C, C, a.x.data() + t * C);
    add_to(positions + t * C, C, a.x.data() + t * C);
  }
  if (a.embedding_keep == nullptr) return;
  for (std::size_t t = 0; t < a.positions; ++t) {
    const auto row = static_cast<std::uint32_t>(index(window) * a.positions + t);
    draw_keep_bits(dropout.embedding_mask(), row, C, a.embedding_keep + t * words);
  }
  copy_dropped(a.x.data(), a.positions, C, {a.embedding_keep, a.keep_scale}, a.x.data());
}

void Network::forward(const std::int32_t* ids, const DropoutState& dropout, std::int64_t window, Activations& a,
                      Scratch& scratch) const {
  a.keep_scale = dropout.embedding_mask().scale();
  embed(ids, dropout, window, a);
  for (std::size_t layer = 0; layer < a.blocks.size(); ++layer) {
    if (a.blocks[layer].attention_keep != nullptr) draw_masks(static_cast<std::int64_t>(layer), dropout, window, a);
    forward_block(layer, a, scratch);
  }
  normalise(2 * a.blocks.size(), a, a.inputs.back());
  multiply(a.inputs.back(), a.positions, weights_.products().back().forward,
           weights_.bias(weights_.products().size() - 1),
           a.dy.back());  // (T, V)
}

/// dx (T, in) = dy W; the gradient of the bias is noted.
void Network::backward_product(std::size_t product, Activations& a, float* dx) const {
  const NetworkWeights::Product& p = weights_.products()[product];
  multiply(a.dy[product], a.positions, p.backward, nullptr, dx);
  if (p.bias < 0) return;
  add_column_sums(a.dy[product], a.positions, p.outputs, a.vector_gradients.data() + p.bias - layout().matrix_size());
}

void Network::backward_norm(std::size_t norm, const float* dy, Activations& a) const {
  const std::size_t C = index(config_.width);
  const NetworkWeights::Norm& offsets = weights_.norms()[norm];
  const auto gradient = [&](std::int64_t offset) {
    return a.vector_gradients.data() + offset - layout().matrix_size();
  };
  add_layer_norm_gradient(dy, a.normal[norm], a.inverse_deviation[norm], weights_.norm_weight(norm), a.positions, C,
                          a.x.data(), gradient(offsets.weight), offsets.bias < 0 ? nullptr : gradient(offsets.bias));
}

void Network::backward_block(std::size_t layer, Activations& a, Scratch& scratch) const {
  const std::size_t C = index(config_.width), p = 4 * layer;
  const Activations::Block& block = a.blocks[layer];
  const float scale = block.attention_keep == nullptr ? 1.0F : a.keep_scale;
  float* result = scratch.result.data();

  copy_dropped(a.x.data(), a.positions, C, {block.feed_forward_keep, scale}, a.dy[p + 3]);
  backward_product(p + 3, a, result);  // (T, 4C)
  multiply_by(result, a.positions * 4 * C, a.dy[p + 2]);
  backward_product(p + 2, a, result);
  backward_norm(2 * layer + 1, result, a);

  copy_dropped(a.x.data(), a.positions, C, {block.projection_keep, scale}, a.dy[p + 1]);
  backward_product(p + 1, a, result);
  attention_gradient(a.attention, a.inputs[p + 1], result, {block.attention_keep, scale}, block.statistics,
                     scratch.attention.data(), a.dy[p]);
  backward_product(p, a, result);
  backward_norm(2 * layer, result, a);
}

void Network::backward(Activations& a, Scratch& scratch) const {
  std::fill(a.vector_gradients.begin(), a.vector_gradients.end(), 0.0F);
  backward_product(weights_.products().size() - 1, a, scratch.result.data());
  std::fill(a.x.begin(), a.x.end(), 0.0F);
  backward_norm(2 * a.blocks.size(), scratch.result.data(), a);
  for (std::size_t layer = a.blocks.size(); layer-- > 0;) backward_block(layer, a, scratch);
  if (a.embedding_keep == nullptr) return;
  copy_dropped(a.x.data(), a.positions, index(config_.width), {a.embedding_keep, a.keep_scale}, a.x.data());
}

std::int64_t Network::training_bytes(const ModelConfig& config, std::int64_t vocabulary, int threads,
                                     std::int64_t windows) {
  const auto together = static_cast<std::int64_t>(sequences_together(config, vocabulary, config.context, threads));
  const std::size_t bytes = Activations::training_bytes(config, vocabulary, config.context);
  return std::min(together, windows) * static_cast<std::int64_t>(bytes);
}

double Network::accumulate_gradients(const TokenBatch& batch, const DropoutState& dropout, double share,
                                     float* gradients, double label_smoothing) {
  if (!weights_.packed_for_training()) throw std::logic_error("load(values, true) precedes accumulate_gradients()");
  const std::size_t together = sequences_together(config_, vocabulary_, batch.length, pool_.threads());
  reserve(std::min(together, index(batch.windows)), batch.length, true, dropout.p > 0.0);
  const auto weight = static_cast<float>(share / static_cast<double>(batch.windows * batch.length));
  double nats = 0.0;
  for (std::int64_t first = 0; first < batch.windows; first += static_cast<std::int64_t>(together)) {
    const std::int64_t count = std::min(static_cast<std::int64_t>(together), batch.windows - first);
    pool_.run(count, [&](std::int64_t i, int worker) {
      Activations& a = *activations_[index(i)];
      Scratch& scratch = scratch_[index(worker)];
      forward(batch.inputs.data() + (first + i) * batch.length, dropout, dropout.first_window + first + i, a, scratch);
      cross_entropy_gradient(a.dy.back(), a.positions, index(vocabulary_),
                             batch.targets.data() + (first + i) * batch.length, static_cast<float>(label_smoothing),
                             weight, a.losses.data());
      backward(a, scratch);
    });
    add_gradients(batch, first, count, gradients);
    for (std::int64_t i = 0; i < count; ++i) {
      for (const float loss : activations_[index(i)]->losses) nats += static_cast<double>(loss);
    }
  }
  return nats / static_cast<double>(batch.windows * batch.length);
}

void Network::add_gradients(const TokenBatch& batch, std::int64_t first, std::int64_t count, float* gradients) {
  pool_.run(static_cast<std::int64_t>(tasks_.size()) + 1, [&](std::int64_t task, int) {
    if (task == 0) return add_vector_gradients(batch, first, count, gradients);
    const GradientTask& part = tasks_[index(task - 1)];
    const NetworkWeights::Product& product = weights_.products()[part.product];
    for (std::int64_t i = 0; i < count; ++i) {
      const Activations& a = *activations_[index(i)];
      add_weight_gradient(a.dy[part.product], product.outputs, a.inputs[part.product], product.inputs, a.positions,
                          index(part.first), index(part.last), gradients + product.weights, weights_.precision());
      // A tied head's matrix has both gradients of a sequence added before the next sequence's, so that the sum does
      // not depend on how many sequences are summed together.
      if (!config_.tied_head || part.product + 1 < weights_.products().size()) continue;
      add_token_gradients(batch.inputs.data() + (first + i) * batch.length, a, part.first, part.last, gradients);
    }
  });
}

/// Of the parameters of one dimension, and of the embeddings, but for a tied one.
void Network::add_vector_gradients(const TokenBatch& batch, std::int64_t first, std::int64_t count,
                                   float* gradients) const {
  float* positions = gradients + weights_.position_embedding_offset();
  for (std::int64_t i = 0; i < count; ++i) {
    const Activations& a = *activations_[index(i)];
    add_to(a.vector_gradients.data(), a.vector_gradients.size(), gradients + layout().matrix_size());
    add_to(a.x.data(), a.x.size(), positions);
    if (config_.tied_head) continue;
    add_token_gradients(batch.inputs.data() + (first + i) * batch.length, a, 0, vocabulary_, gradients);
  }
}

/// Of the rows [first, last) of token_emb, for one sequence.
void Network::add_token_gradients(const std::int32_t* ids, const Activations& a, std::int64_t first, std::int64_t last,
                                  float* gradients) const {
  const std::size_t C = index(config_.width);
  float* tokens = gradients + weights_.token_embedding_offset();
  for (std::size_t t = 0; t < a.positions; ++t) {
    if (ids[t] < first || ids[t] >= last) continue;
    add_to(a.x.data() + t * C, C, tokens + index(ids[t]) * C);
  }
}

std::vector<float> Network::losses(const TokenBatch& batch) {
  reserve(index(pool_.threads()), batch.length, false, false);
  std::vector<float> losses(index(batch.windows * batch.length));
  pool_.run(batch.windows, [&](std::int64_t i, int worker) {
    Activations& a = *activations_[index(worker)];
    forward(batch.inputs.data() + i * batch.length, {}, i, a, scratch_[index(worker)]);
    cross_entropy(a.dy.back(), a.positions, index(vocabulary_), batch.targets.data() + i * batch.length,
                  losses.data() + i * batch.length);
  });
  return losses;
}

void Network::logits(const TokenBatch& batch, const DropoutState& dropout, std::span<float> logits) {
  reserve(index(pool_.threads()), batch.length, false, dropout.p > 0.0);
  pool_.run(batch.windows, [&](std::int64_t i, int worker) {
    Activations& a = *activations_[index(worker)];
    forward(batch.inputs.data() + i * batch.length, dropout, dropout.first_window + i, a, scratch_[index(worker)]);
    const std::size_t count = a.positions * index(vocabulary_);
    std::copy_n(a.dy.back(), count, logits.data() + index(i) * count);
  });
}

}  // namespace chargpt
