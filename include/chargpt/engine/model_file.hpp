#pragma once

#include <functional>
#include <string>

#include "chargpt/base/safetensors.hpp"
#include "chargpt/base/tokenizer.hpp"
#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {

/// A model that came from a file, ready to sample and to be scored.
struct LoadedModel {
  CharGPT model = nullptr;
  Tokenizer tokenizer;
  bool verified = false;  ///< the file carried a checksum
};

/// Writes weights with the metadata that make the file sufficient by itself: "format" ("chargpt-model"), "version",
/// "config" (the model section as JSON), "vocabulary" (JSON array in id order), "checksum". Errors: cannot_create, io.
WrittenFile save_model(const std::string& path, CharGPT& model, const Tokenizer& tokenizer);

/// Error(unusable_model) naming file and reason: not our format or a newer version, a missing, extra or misshapen
/// tensor, a weight that is not finite, a vocabulary of another size than the weights. Error(no_input) for a missing
/// file.
LoadedModel load_model(const std::string& path, torch::Device device = torch::kCPU,
                       AttentionPath path_of_attention = AttentionPath::automatic);

/// The vocabulary in a model file's metadata. Error(unusable_model).
Tokenizer model_vocabulary(const SafetensorsFile& file);

/// Views of a flat buffer (P floats on the CPU) under the parameters' names with a prefix, for writing.
std::vector<TensorView> tensor_views(const FlatParameters& parameters, const torch::Tensor& flat,
                                     const std::string& prefix = "");

/// Copies the file's tensors into the model's weights. Besides them a file may hold the heads' `tril` buffers, as a
/// state dict of Python can, if they are what this model masks with. Errors as load_model.
void read_weights(const SafetensorsFile& file, CharGPT& model);

/// Copies the file's tensors into `flat` (P). Every parameter must be there, F32 and of its shape, and nothing else
/// whose name begins with `prefix`, save what `ignored` says is not its matter. Errors as load_model.
void read_flat(const SafetensorsFile& file, const FlatParameters& parameters, const std::string& prefix,
               const torch::Tensor& flat, const std::function<bool(const std::string& name)>& ignored = {});

/// Error(unusable_model) naming the first tensor of `flat` with a value that is not finite, and `source`.
void require_finite(const FlatParameters& parameters, const torch::Tensor& flat, const std::string& source);

}  // namespace chargpt
