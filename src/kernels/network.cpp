#include "chargpt/kernels/network.hpp"

#include <algorithm>

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

}  // namespace

/// Memory of a thread for what no one needs afterwards.
struct Network::Scratch {
  AlignedVector<float> result;  // (T, 4C)
  AlignedVector<float> attention;
};

Network::Network(const ModelConfig& config, std::int64_t vocabulary, ThreadPool& pool)
    : config_(config), vocabulary_(vocabulary), layout_(config, vocabulary), pool_(pool) {
  const std::int64_t C = config.width;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string block = block_prefix(i);
    norms_.push_back(layout_.offset(block + "l1.weight"));
    norms_.push_back(layout_.offset(block + "l2.weight"));
    add_product(block + "mha.heads.0.query.weight", "", 3 * C, C);
    add_product(block + "mha.proj.weight", block + "mha.proj.bias", C, C);
    add_product(block + "ff.ln1.weight", block + "ff.ln1.bias", 4 * C, C);
    add_product(block + "ff.ln2.weight", block + "ff.ln2.bias", C, 4 * C);
  }
  norms_.push_back(layout_.offset("l.weight"));
  add_product("lm.weight", "lm.bias", vocabulary, C);
}

Network::~Network() = default;

void Network::add_product(const std::string& weights, const std::string& bias, std::int64_t outputs,
                          std::int64_t inputs) {
  const std::int64_t parts = (outputs + kGradientOutputs - 1) / kGradientOutputs;
  for (std::int64_t part = 0; part < parts; ++part) {
    tasks_.push_back({products_.size(), part * outputs / parts, (part + 1) * outputs / parts});
  }
  products_.push_back({layout_.offset(weights), bias.empty() ? -1 : layout_.offset(bias), inputs, outputs, {}, {}});
}

const float* Network::bias(const Product& product) const { return product.bias < 0 ? nullptr : values_ + product.bias; }

void Network::load(const float* values, bool training) {
  values_ = values;
  pool_.run(static_cast<std::int64_t>(products_.size()) * (training ? 2 : 1), [&](std::int64_t task, int) {
    Product& product = products_[index(task) % products_.size()];
    const bool forward = index(task) < products_.size();
    const std::size_t depth = index(forward ? product.inputs : product.outputs);
    const std::size_t columns = index(forward ? product.outputs : product.inputs);
    PackedMatrix& packed = forward ? product.forward : product.backward;
    if (packed.columns() == 0) packed = PackedMatrix(depth, columns);
    if (forward) {
      packed.pack_transposed(values_ + product.weights);
    } else {
      packed.pack(values_ + product.weights);
    }
  });
}

void Network::reserve(std::size_t sequences, std::int64_t length, bool training) {
  const bool fits = !activations_.empty() && activations_[0]->T == index(length) &&
                    activations_[0]->vector_gradients.empty() == !training;
  if (!fits) {
    activations_.clear();
    Scratch scratch;
    scratch.result.resize(index(length * 4 * config_.width));
    scratch.attention.resize(attention_scratch({index(length), index(config_.heads), index(config_.head_size())}));
    scratch_.assign(index(pool_.threads()), scratch);
  }
  while (activations_.size() < sequences) {
    activations_.push_back(std::make_unique<Activations>(config_, vocabulary_, length, training));
  }
}

void Network::normalise(std::size_t norm, Activations& a, float* y) const {
  const float* weight = values_ + norms_[norm];
  layer_norm(a.x.data(), a.T, index(config_.width), weight, weight + config_.width, a.normal[norm],
             a.inverse_deviation[norm], y);
}

void Network::draw_masks(std::int64_t layer, const DropoutState& dropout, std::int64_t window, Activations& a) const {
  const Activations::Block& block = a.blocks[index(layer)];
  const auto T = static_cast<std::uint32_t>(a.T);
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
  float* result = scratch.result.data();

  normalise(2 * layer, a, a.inputs[p]);
  multiply(a.inputs[p], a.T, products_[p].forward, nullptr, a.dy[p]);  // (T, 3C)
  attention(a.attention, a.dy[p], {block.attention_keep, scale}, block.statistics, scratch.attention.data(),
            a.inputs[p + 1]);
  multiply(a.inputs[p + 1], a.T, products_[p + 1].forward, bias(products_[p + 1]), result);
  add_dropped(result, a.T, C, {block.projection_keep, scale}, a.x.data());

  normalise(2 * layer + 1, a, a.inputs[p + 2]);
  multiply(a.inputs[p + 2], a.T, products_[p + 2].forward, bias(products_[p + 2]), a.inputs[p + 3]);  // (T, 4C)
  gelu(a.inputs[p + 3], a.T * 4 * C, a.dy[p + 2]);
  multiply(a.inputs[p + 3], a.T, products_[p + 3].forward, bias(products_[p + 3]), result);
  add_dropped(result, a.T, C, {block.feed_forward_keep, scale}, a.x.data());
}

void Network::forward(const std::int32_t* ids, const DropoutState& dropout, std::int64_t window, Activations& a,
                      Scratch& scratch) const {
  const std::size_t C = index(config_.width);
  const float* tokens = values_ + layout_.offset("token_emb.weight");
  const float* positions = values_ + layout_.offset("pos_emb.weight");
  for (std::size_t t = 0; t < a.T; ++t) {
    std::copy_n(tokens + index(ids[t]) * C, C, a.x.data() + t * C);
    add_dropped(positions + t * C, 1, C, {}, a.x.data() + t * C);
  }
  a.keep_scale = dropout.mask(0, DropoutPlace::projection).scale();
  for (std::size_t layer = 0; layer < a.blocks.size(); ++layer) {
    if (a.blocks[layer].attention_keep != nullptr) draw_masks(static_cast<std::int64_t>(layer), dropout, window, a);
    forward_block(layer, a, scratch);
  }
  normalise(2 * a.blocks.size(), a, a.inputs.back());
  multiply(a.inputs.back(), a.T, products_.back().forward, bias(products_.back()), a.dy.back());  // (T, V)
}

/// dx (T, in) = dy W; the gradient of the bias is noted.
void Network::backward_product(std::size_t product, Activations& a, float* dx) const {
  const Product& p = products_[product];
  multiply(a.dy[product], a.T, p.backward, nullptr, dx);
  if (p.bias < 0) return;
  add_column_sums(a.dy[product], a.T, index(p.outputs), a.vector_gradients.data() + p.bias - layout_.matrix_size());
}

void Network::backward_norm(std::size_t norm, const float* dy, Activations& a) const {
  const std::size_t C = index(config_.width);
  float* gradient = a.vector_gradients.data() + norms_[norm] - layout_.matrix_size();
  add_layer_norm_gradient(dy, a.normal[norm], a.inverse_deviation[norm], values_ + norms_[norm], a.T, C, a.x.data(),
                          gradient, gradient + C);
}

void Network::backward_block(std::size_t layer, Activations& a, Scratch& scratch) const {
  const std::size_t C = index(config_.width), p = 4 * layer;
  const Activations::Block& block = a.blocks[layer];
  const float scale = block.attention_keep == nullptr ? 1.0F : a.keep_scale;
  float* result = scratch.result.data();

  copy_dropped(a.x.data(), a.T, C, {block.feed_forward_keep, scale}, a.dy[p + 3]);
  backward_product(p + 3, a, result);  // (T, 4C)
  multiply_by(result, a.T * 4 * C, a.dy[p + 2]);
  backward_product(p + 2, a, result);
  backward_norm(2 * layer + 1, result, a);

  copy_dropped(a.x.data(), a.T, C, {block.projection_keep, scale}, a.dy[p + 1]);
  backward_product(p + 1, a, result);
  attention_gradient(a.attention, a.inputs[p + 1], result, {block.attention_keep, scale}, block.statistics,
                     scratch.attention.data(), a.dy[p]);
  backward_product(p, a, result);
  backward_norm(2 * layer, result, a);
}

void Network::backward(Activations& a, Scratch& scratch) const {
  std::fill(a.vector_gradients.begin(), a.vector_gradients.end(), 0.0F);
  backward_product(products_.size() - 1, a, scratch.result.data());
  std::fill(a.x.begin(), a.x.end(), 0.0F);
  backward_norm(norms_.size() - 1, scratch.result.data(), a);
  for (std::size_t layer = a.blocks.size(); layer-- > 0;) backward_block(layer, a, scratch);
}

double Network::accumulate_gradients(const TokenBatch& batch, const DropoutState& dropout, double share,
                                     float* gradients) {
  const std::size_t bytes = Activations::training_bytes(config_, vocabulary_, batch.length);
  const std::size_t threads = index(pool_.threads());
  const std::size_t together = std::max(kActivationBytes / bytes / threads, std::size_t{1}) * threads;
  reserve(std::min(together, index(batch.windows)), batch.length, true);
  const auto weight = static_cast<float>(share / static_cast<double>(batch.windows * batch.length));
  double nats = 0.0;
  for (std::int64_t first = 0; first < batch.windows; first += static_cast<std::int64_t>(together)) {
    const std::int64_t count = std::min(static_cast<std::int64_t>(together), batch.windows - first);
    pool_.run(count, [&](std::int64_t i, int worker) {
      Activations& a = *activations_[index(i)];
      Scratch& scratch = scratch_[index(worker)];
      forward(batch.inputs.data() + (first + i) * batch.length, dropout, dropout.first_window + first + i, a, scratch);
      cross_entropy_gradient(a.dy.back(), a.T, index(vocabulary_), batch.targets.data() + (first + i) * batch.length,
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
    const Product& product = products_[part.product];
    for (std::int64_t i = 0; i < count; ++i) {
      const Activations& a = *activations_[index(i)];
      add_weight_gradient(a.dy[part.product], index(product.outputs), a.inputs[part.product], index(product.inputs),
                          a.T, index(part.first), index(part.last), gradients + product.weights);
    }
  });
}

/// Of the parameters of one dimension, and of both embeddings.
void Network::add_vector_gradients(const TokenBatch& batch, std::int64_t first, std::int64_t count,
                                   float* gradients) const {
  const std::size_t C = index(config_.width);
  float* tokens = gradients + layout_.offset("token_emb.weight");
  float* positions = gradients + layout_.offset("pos_emb.weight");
  for (std::int64_t i = 0; i < count; ++i) {
    const Activations& a = *activations_[index(i)];
    add_dropped(a.vector_gradients.data(), 1, a.vector_gradients.size(), {}, gradients + layout_.matrix_size());
    add_dropped(a.x.data(), 1, a.x.size(), {}, positions);
    const std::int32_t* ids = batch.inputs.data() + (first + i) * batch.length;
    for (std::size_t t = 0; t < a.T; ++t) add_dropped(a.x.data() + t * C, 1, C, {}, tokens + index(ids[t]) * C);
  }
}

std::vector<float> Network::losses(const TokenBatch& batch) {
  reserve(index(pool_.threads()), batch.length, false);
  std::vector<float> losses(index(batch.windows * batch.length));
  pool_.run(batch.windows, [&](std::int64_t i, int worker) {
    Activations& a = *activations_[index(worker)];
    forward(batch.inputs.data() + i * batch.length, {}, i, a, scratch_[index(worker)]);
    cross_entropy(a.dy.back(), a.T, index(vocabulary_), batch.targets.data() + i * batch.length,
                  losses.data() + i * batch.length);
  });
  return losses;
}

void Network::logits(const TokenBatch& batch, const DropoutState& dropout, std::span<float> logits) {
  reserve(index(pool_.threads()), batch.length, dropout.p > 0.0);
  pool_.run(batch.windows, [&](std::int64_t i, int worker) {
    Activations& a = *activations_[index(worker)];
    forward(batch.inputs.data() + i * batch.length, dropout, dropout.first_window + i, a, scratch_[index(worker)]);
    const std::size_t count = a.T * index(vocabulary_);
    std::copy_n(a.dy.back(), count, logits.data() + index(i) * count);
  });
}

}  // namespace chargpt
