#include "chargpt/kernels/network_weights.hpp"

namespace chargpt {

NetworkWeights::NetworkWeights(const ModelConfig& config, std::int64_t vocabulary, Precision precision)
    : layout_(config, vocabulary),
      tokens_(layout_.offset("token_emb.weight")),
      positions_(layout_.offset("pos_emb.weight")),
      precision_(precision) {
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

void NetworkWeights::add_product(const std::string& weights, const std::string& bias, std::int64_t outputs,
                                 std::int64_t inputs) {
  products_.push_back({layout_.offset(weights),
                       bias.empty() ? -1 : layout_.offset(bias),
                       static_cast<std::size_t>(inputs),
                       static_cast<std::size_t>(outputs),
                       {},
                       {}});
}

void NetworkWeights::load(const float* values, bool training, ThreadPool& pool) {
  values_ = values;
  packed_for_training_ = training;
  pool.run(static_cast<std::int64_t>(products_.size()) * (training ? 2 : 1), [&](std::int64_t task, int) {
    const auto i = static_cast<std::size_t>(task);
    Product& product = products_[i % products_.size()];
    if (i < products_.size()) {
      if (product.forward.columns() == 0) product.forward = PackedMatrix(product.inputs, product.outputs, precision_);
      product.forward.pack_transposed(values_ + product.weights);
    } else {
      if (product.backward.columns() == 0) product.backward = PackedMatrix(product.outputs, product.inputs, precision_);
      product.backward.pack(values_ + product.weights);
    }
  });
}

const float* NetworkWeights::bias(std::size_t product) const {
  return products_[product].bias < 0 ? nullptr : values_ + products_[product].bias;
}

std::int64_t NetworkWeights::norm_offset(std::size_t norm) const { return norms_[norm]; }

const float* NetworkWeights::norm(std::size_t norm) const { return values_ + norms_[norm]; }

}  // namespace chargpt
