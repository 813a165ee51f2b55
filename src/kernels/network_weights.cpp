#include "chargpt/kernels/network_weights.hpp"

namespace chargpt {

NetworkWeights::NetworkWeights(const ModelConfig& config, std::int64_t vocabulary, Precision precision)
    : layout_(config, vocabulary),
      bias_(config.bias),
      tokens_(layout_.offset("token_emb.weight")),
      positions_(layout_.offset("pos_emb.weight")),
      precision_(precision) {
  const std::int64_t C = config.width;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string block = block_prefix(i);
    add_norm(block + "l1");
    add_norm(block + "l2");
    add_product(block + "mha.heads.0.query.weight", "", 3 * C, C);
    add_product(block + "mha.proj.weight", block + "mha.proj.bias", C, C);
    add_product(block + "ff.ln1.weight", block + "ff.ln1.bias", 4 * C, C);
    add_product(block + "ff.ln2.weight", block + "ff.ln2.bias", C, 4 * C);
  }
  add_norm("l");
  add_product(config.tied_head ? "token_emb.weight" : "lm.weight", "lm.bias", vocabulary, C);
}

void NetworkWeights::add_product(const std::string& weights, const std::string& bias, std::int64_t outputs,
                                 std::int64_t inputs) {
  products_.push_back({layout_.offset(weights),
                       bias_offset(bias),
                       static_cast<std::size_t>(inputs),
                       static_cast<std::size_t>(outputs),
                       {},
                       {}});
}

void NetworkWeights::add_norm(const std::string& name) {
  norms_.push_back({layout_.offset(name + ".weight"), bias_offset(name + ".bias")});
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

}  // namespace chargpt
