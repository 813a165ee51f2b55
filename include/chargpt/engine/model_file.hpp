#pragma once

#include <span>
#include <string>

#include "chargpt/base/model_file.hpp"
#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {

/// A model that came from a file, ready to sample and to be scored.
struct LoadedModel {
  CharGPT model = nullptr;
  Tokenizer tokenizer;
  bool verified = false;  ///< the file carried a checksum
};

/// write_model_file() with the model's config and weights.
WrittenFile save_model(const std::string& path, CharGPT& model, const Tokenizer& tokenizer);

/// The model of a file. Error(unusable_model) for a weight that is not finite.
LoadedModel load_model(const ModelFile& file, torch::Device device = torch::kCPU,
                       AttentionPath path_of_attention = AttentionPath::automatic);

/// The numbers of a contiguous float tensor on the CPU, which must outlive them.
std::span<float> numbers(const torch::Tensor& tensor);

}  // namespace chargpt
