#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// Where each parameter of a model lies in the flat buffers of values, gradients and moments, and in which order files
/// list them: matrices before vectors, so that "decay matrices only" is a prefix; the queries of all heads of a block,
/// then its keys, then its values, so that they also form one (3C, C) matrix. Biases are left out without model.bias,
/// and lm.weight with model.tied_head.
class ParameterLayout {
 public:
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;  ///< (out, in) of a Linear, (rows, C) of an embedding, (n) of a bias or norm
    std::int64_t offset;              ///< in elements
    std::int64_t count;
    std::string alias;  ///< another name under which a file may hold it: a tied head's; empty: none
  };

  ParameterLayout() = default;
  /// Takes time and memory in proportion to layers * heads: check untrusted configs with parameter_count() first.
  ParameterLayout(const ModelConfig& config, std::int64_t vocabulary);

  const std::vector<Entry>& entries() const { return entries_; }
  std::int64_t size() const { return size_; }                ///< elements of all parameters
  std::int64_t matrix_size() const { return matrix_size_; }  ///< elements of those of two dimensions
  /// Where the parameter of that name begins. The name must be one of the entries'.
  std::int64_t offset(std::string_view name) const;

 private:
  void add(std::string name, std::vector<std::int64_t> shape);
  void add_block_matrices(const ModelConfig& config, const std::string& block);
  void add_block_vectors(const ModelConfig& config, const std::string& block);
  void add_norm(const ModelConfig& config, const std::string& name);

  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
  std::int64_t matrix_size_ = 0;
};

/// "blocks.{i}." — what the names of a block's parameters begin with.
std::string block_prefix(std::int64_t layer);

}  // namespace chargpt
