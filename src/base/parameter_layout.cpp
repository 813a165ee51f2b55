#include "chargpt/base/parameter_layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace chargpt {

std::string block_prefix(std::int64_t layer) { return "blocks." + std::to_string(layer) + "."; }

ParameterLayout::ParameterLayout(const ModelConfig& config, std::int64_t vocabulary) {
  const std::int64_t C = config.width;
  add("token_emb.weight", {vocabulary, C});
  if (config.tied_head) entries_.back().alias = "lm.weight";
  add("pos_emb.weight", {config.context, C});
  for (std::int64_t i = 0; i < config.layers; ++i) add_block_matrices(config, block_prefix(i));
  if (!config.tied_head) add("lm.weight", {vocabulary, C});
  matrix_size_ = size_;
  for (std::int64_t i = 0; i < config.layers; ++i) add_block_vectors(config, block_prefix(i));
  add_norm(config, "l");
  if (config.bias) add("lm.bias", {vocabulary});
}

void ParameterLayout::add(std::string name, std::vector<std::int64_t> shape) {
  const std::int64_t count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  entries_.push_back({std::move(name), std::move(shape), size_, count, ""});
  size_ += count;
}

void ParameterLayout::add_block_matrices(const ModelConfig& config, const std::string& block) {
  const std::int64_t C = config.width;
  for (const char* part : {"query", "key", "value"}) {
    for (std::int64_t h = 0; h < config.heads; ++h) {
      add(block + "mha.heads." + std::to_string(h) + "." + part + ".weight", {config.head_size(), C});
    }
  }
  add(block + "mha.proj.weight", {C, C});
  add(block + "ff.ln1.weight", {4 * C, C});
  add(block + "ff.ln2.weight", {C, 4 * C});
}

void ParameterLayout::add_block_vectors(const ModelConfig& config, const std::string& block) {
  const std::int64_t C = config.width;
  add_norm(config, block + "l1");
  if (config.bias) add(block + "mha.proj.bias", {C});
  add_norm(config, block + "l2");
  if (!config.bias) return;
  add(block + "ff.ln1.bias", {4 * C});
  add(block + "ff.ln2.bias", {C});
}

void ParameterLayout::add_norm(const ModelConfig& config, const std::string& name) {
  add(name + ".weight", {config.width});
  if (config.bias) add(name + ".bias", {config.width});
}

std::int64_t ParameterLayout::offset(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  if (found == entries_.end()) throw std::logic_error("no parameter is named " + std::string(name));
  return found->offset;
}

}  // namespace chargpt
