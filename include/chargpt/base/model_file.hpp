#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/parameter_layout.hpp"
#include "chargpt/base/safetensors.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// A model.safetensors, read whole and checked: weights with the metadata that make the file sufficient by itself.
class ModelFile {
 public:
  /// Error(unusable_model) naming file and reason: not our format or a newer version, a config or vocabulary that is
  /// none, a missing, extra or misshapen tensor, a tied head that differs from the embedding, a vocabulary of another
  /// size than the weights, and all that SafetensorsFile refuses. Error(no_input) for a missing file.
  explicit ModelFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const ModelConfig& config() const { return config_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  const ParameterLayout& layout() const { return layout_; }
  bool verified() const { return file_.verified(); }  ///< the file carried a checksum (and it was right)

  /// Copies all weights into `values` (layout().size()). Error(unusable_model) naming the first tensor with a value
  /// that is not finite; `values` is of no use then.
  void copy_values(std::span<float> values) const;

 private:
  SafetensorsFile file_;
  ModelConfig config_;
  Tokenizer tokenizer_;
  ParameterLayout layout_;
};

/// Whether a file's metadata say what its ids are: a list of characters or, in a file of ours, none for bytes.
bool has_vocabulary(const SafetensorsFile& file);

/// The vocabulary of a file that has one. Error(unusable_model).
Tokenizer read_vocabulary(const SafetensorsFile& file);

/// Writes `values` (P floats in the order of the layout) with metadata "format" ("chargpt-model"), "version", "config"
/// (the model section as JSON), "vocabulary" (JSON array in id order; absent for bytes), "normalization" (where there
/// is one) and "checksum". Errors: cannot_create, io.
WrittenFile write_model_file(const std::string& path, const ModelConfig& config, const Tokenizer& tokenizer,
                             std::span<const float> values);

/// Views of a flat buffer under the parameters' names behind `prefix`, for writing. `values` must outlive them.
std::vector<TensorView> parameter_views(const ParameterLayout& layout, std::span<const float> values,
                                        const std::string& prefix = "");

/// Error(unusable_model) naming file and tensor if an F32 tensor holds a value that is not finite.
void require_finite(const SafetensorsFile& file, const TensorEntry& tensor);

/// Copies the file's tensors into `values` (layout.size()). Every parameter must be there under its name or its alias
/// behind `prefix` (if under both, twice the same), F32, of its shape and finite, and nothing else whose name begins
/// with `prefix` and is not among `besides`: Error(unusable_model) naming file and tensor; `values` is of no use then.
void copy_parameters(const SafetensorsFile& file, const ParameterLayout& layout, const std::string& prefix,
                     std::span<float> values, const std::set<std::string>& besides = {});

}  // namespace chargpt
