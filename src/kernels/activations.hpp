#pragma once

#include <cstdint>
#include <vector>

#include "chargpt/base/aligned_vector.hpp"
#include "chargpt/base/config.hpp"
#include "chargpt/base/parameter_layout.hpp"
#include "chargpt/kernels/activation.hpp"
#include "chargpt/kernels/attention.hpp"

namespace chargpt {

/// What one sequence leaves in memory on its way through the network. For training every block has its own; otherwise
/// all blocks share one, and most of what only a backward pass reads is left out (nullptr).
class Activations {
 public:
  enum class Use { inference, training, training_with_dropout };
  Activations(const ModelConfig& config, std::int64_t vocabulary, std::int64_t length, Use use_of);

  /// About how many bytes one object for training takes: its matrices, not the bits of dropout and what is smaller.
  static std::size_t training_bytes(const ModelConfig& config, std::int64_t vocabulary, std::int64_t length);

  Use use;
  std::size_t positions;     // T
  AttentionShape attention;  // of each block

  AlignedVector<float> x;      // (T, C) the residual stream, and on the way back its gradient
  std::vector<float*> inputs;  // of each product: (T, in)
  std::vector<float*> dy;      // of each product: (T, out) gradient of its result. Before the way back qkv's holds
                               // the result itself, ln1's the slope of the GELU, lm's the logits
  std::vector<float*> normal;  // of each norm: (T, C)
  std::vector<float*> inverse_deviation;  // of each norm: (T)

  struct Block {
    float* statistics;  // (H, T, 2)
    std::uint32_t* attention_keep;
    std::uint32_t* projection_keep;
    std::uint32_t* feed_forward_keep;
  };
  std::vector<Block> blocks;
  std::uint32_t* embedding_keep = nullptr;  // nullptr without embedding dropout

  AlignedVector<float> vector_gradients;  // of this sequence: all parameters of one dimension, as in the flat buffer
  std::vector<float> losses;              // (T)
  float keep_scale = 1.0F;                // what dropout multiplies kept elements by

 private:
  /// Points into memory_; a first walk without memory counts.
  std::size_t place(const ModelConfig& config, std::int64_t vocabulary, float* memory);

  AlignedVector<float> memory_;
};

}  // namespace chargpt
