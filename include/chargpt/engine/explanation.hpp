#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {

/// A tensor that the forward pass makes, named as the code that makes it.
struct NamedShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// What scaling by 1/sqrt(D) does in one head, over the pairs of positions that the mask leaves.
struct HeadStatistics {
  double product_variance;  ///< of q k
  double score_variance;    ///< of q k / sqrt(D)
  double largest_unscaled;  ///< mean over the positions but the first of the largest weight of softmax(q k)
  double largest;           ///< the same of softmax(q k / sqrt(D)); both are NaN for a text of one position
};

/// A forward pass of one text through the lecture's modules, with what happens inside of one block kept. All tensors
/// are on the CPU in double.
struct Explanation {
  std::vector<NamedShape> shapes;  ///< in the order of the pass, with B = 1
  torch::Tensor products;          ///< (H, T, T): q kᵀ
  torch::Tensor scores;            ///< (H, T, T): q kᵀ / sqrt(D)
  torch::Tensor masked;            ///< (H, T, T): scores, -inf where tril == 0
  torch::Tensor weights;           ///< (H, T, T): softmax(masked)
  torch::Tensor next;              ///< (V): probabilities of the next character
  std::vector<HeadStatistics> heads;
};

/// ids: 1 to context of them; 0 <= block < layers.
Explanation explain(CharGPT& model, std::span<const std::int32_t> ids, std::int64_t block);

}  // namespace chargpt
