#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/parameter_layout.hpp"
#include "chargpt/base/thread_pool.hpp"
#include "chargpt/kernels/matmul.hpp"

namespace chargpt {

/// A model's weights as the kernels read them: the matrices packed, the rest in the flat buffer.
class NetworkWeights {
 public:
  /// One Linear layer, and its weights packed for both directions.
  struct Product {
    std::int64_t weights;  ///< where they lie in the flat buffer
    std::int64_t bias;     ///< where it lies; -1: none
    std::size_t inputs;
    std::size_t outputs;
    PackedMatrix forward;
    PackedMatrix backward;
  };

  /// Where the numbers of a LayerNorm lie in the flat buffer.
  struct Norm {
    std::int64_t weight;
    std::int64_t bias;  ///< -1: none
  };

  NetworkWeights(const ModelConfig& config, std::int64_t vocabulary, Precision precision = Precision::fp32);

  /// Packs the weights at `values` (layout().size() floats, which must outlive this object), for `training` in both
  /// directions.
  void load(const float* values, bool training, ThreadPool& pool);

  const ParameterLayout& layout() const { return layout_; }
  /// Four a block, in the order of the forward pass (qkv, proj, ln1, ln2), then lm.
  const std::vector<Product>& products() const { return products_; }
  const float* bias(std::size_t product) const { return at(products_[product].bias); }  ///< nullptr: none
  /// Two a block, then l.
  const std::vector<Norm>& norms() const { return norms_; }
  const float* norm_weight(std::size_t norm) const { return at(norms_[norm].weight); }  ///< (C)
  const float* norm_bias(std::size_t norm) const { return at(norms_[norm].bias); }      ///< (C); nullptr: none
  std::int64_t token_embedding_offset() const { return tokens_; }                       ///< in the flat buffer
  std::int64_t position_embedding_offset() const { return positions_; }                 ///< in the flat buffer
  const float* token_embedding() const { return values_ + tokens_; }                    ///< (V, C)
  const float* position_embedding() const { return values_ + positions_; }              ///< (T, C)
  Precision precision() const { return precision_; }
  bool packed_for_training() const { return packed_for_training_; }

 private:
  void add_product(const std::string& weights, const std::string& bias, std::int64_t outputs, std::int64_t inputs);
  void add_norm(const std::string& name);
  std::int64_t bias_offset(const std::string& name) const { return bias_ && !name.empty() ? layout_.offset(name) : -1; }
  const float* at(std::int64_t offset) const { return offset < 0 ? nullptr : values_ + offset; }

  ParameterLayout layout_;
  bool bias_;
  std::int64_t tokens_;
  std::int64_t positions_;
  const float* values_ = nullptr;
  Precision precision_;
  bool packed_for_training_ = false;
  std::vector<Product> products_;
  std::vector<Norm> norms_;
};

}  // namespace chargpt
