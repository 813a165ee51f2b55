#include "chargpt/base/initial_weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "chargpt/base/model_file.hpp"

namespace chargpt {
namespace {

[[noreturn]] void refuse(const SafetensorsFile& file, const std::string& reason) {
  throw Error(ExitCode::unusable_model, fmt::format("{}: {}", file.path(), reason));
}

/// A file whose head is tied to the embedding holds the matrix once, under either name.
void refuse_tied_head(const SafetensorsFile& file) {
  const bool has_head = file.find("lm.weight") != nullptr, has_embedding = file.find("token_emb.weight") != nullptr;
  if (has_head == has_embedding) return;
  const char* missing = has_head ? "token_emb.weight" : "lm.weight";
  const char* there = has_head ? "lm.weight" : "token_emb.weight";
  refuse(file, fmt::format(
                   "tensor {} is missing: it looks as if the head were tied to the embedding, of which the file holds "
                   "{} alone; set model.tied_head to true, or save both tensors",
                   missing, there));
}

bool is_lower_triangle(const SafetensorsFile& file, const TensorEntry& tensor, std::int64_t context) {
  if (tensor.dtype != "F32" || tensor.shape != std::vector{context, context}) return false;
  const auto bytes = file.bytes(tensor);
  std::vector<float> mask(bytes.size() / sizeof(float));
  std::memcpy(mask.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const auto T = static_cast<std::size_t>(context);
    if (mask[i] != (i % T <= i / T ? 1.0F : 0.0F)) return false;
  }
  return true;
}

/// The names under which the heads' masks, registered as buffers, may stand in a state dict.
std::set<std::string> mask_names(const ModelConfig& config) {
  std::set<std::string> names;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    for (std::int64_t head = 0; head < config.heads; ++head) {
      names.insert(fmt::format("{}mha.heads.{}.tril", block_prefix(layer), head));
    }
  }
  return names;
}

void check_masks(const SafetensorsFile& file, const ModelConfig& config, const std::set<std::string>& names) {
  for (const TensorEntry& tensor : file.tensors()) {
    if (!names.contains(tensor.name) || is_lower_triangle(file, tensor, config.context)) continue;
    refuse(file,
           fmt::format("tensor {} is {} of shape {} and not the mask of this model: lower-triangular ones, F32 of "
                       "shape [{}, {}]",
                       tensor.name, tensor.dtype, tensor.shape, config.context, config.context));
  }
}

/// The file's weights, those of `config`'s model with `vocabulary` characters, in the order of the layout.
std::vector<float> read_values(const SafetensorsFile& file, const ModelConfig& config, const ParameterLayout& layout,
                               std::int64_t vocabulary) {
  const std::set<std::string> masks = mask_names(config);
  std::vector<float> values(static_cast<std::size_t>(layout.size()));
  try {
    if (!config.tied_head) refuse_tied_head(file);
    check_masks(file, config, masks);
    copy_parameters(file, layout, "", values, masks);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{} (wanted are the weights of the model that the config describes: layers {}, heads {}, "
                            "width {}, context {}, tied_head {}, bias {}; vocabulary {})",
                            error.what(), config.layers, config.heads, config.width, config.context, config.tied_head,
                            config.bias, vocabulary));
  }
  return values;
}

/// For each id of `to` the id of the same character in `from`, or -1.
std::vector<std::int64_t> match(const Tokenizer& from, const Tokenizer& to) {
  std::map<std::string, std::int64_t> ids;
  for (std::int32_t id = 0; id < from.size(); ++id) ids[from.symbol(id)] = id;
  std::vector<std::int64_t> matches;
  for (std::int32_t id = 0; id < to.size(); ++id) {
    const auto found = ids.find(to.symbol(id));
    matches.push_back(found == ids.end() ? -1 : found->second);
  }
  return matches;
}

/// Copies row matches[i] of `from` to row i of `to`, for each that has a match.
void copy_rows(const float* from, std::span<float> to, const std::vector<std::int64_t>& matches) {
  const auto columns = static_cast<std::ptrdiff_t>(to.size() / matches.size());
  for (std::size_t row = 0; row < matches.size(); ++row) {
    if (matches[row] < 0) continue;
    std::copy_n(from + matches[row] * columns, columns, to.begin() + static_cast<std::ptrdiff_t>(row) * columns);
  }
}

bool has_row_per_character(const std::string& name) {
  return name == "token_emb.weight" || name == "lm.weight" || name == "lm.bias";
}

}  // namespace

InitialWeights load_initial_weights(const std::string& path, const ModelConfig& config, const Tokenizer& tokenizer,
                                    std::span<float> values) {
  const SafetensorsFile file(path);
  const bool known = has_vocabulary(file);
  const Tokenizer theirs = known ? read_vocabulary(file) : tokenizer;
  const ParameterLayout from(config, theirs.size()), to(config, tokenizer.size());
  const std::vector<float> source = read_values(file, config, from, theirs.size());
  const auto matches = match(theirs, tokenizer);
  for (std::size_t i = 0; i < to.entries().size(); ++i) {
    const auto& entry = to.entries()[i];
    const float* begin = source.data() + from.entries()[i].offset;
    const auto target = values.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.count));
    if (has_row_per_character(entry.name)) {
      copy_rows(begin, target, matches);
    } else {
      std::copy_n(begin, entry.count, target.begin());
    }
  }
  const auto fresh = std::count(matches.begin(), matches.end(), -1);
  const std::int64_t taken = tokenizer.size() - fresh;
  return {file.verified(), known, taken, fresh, theirs.size() - taken};
}

}  // namespace chargpt
