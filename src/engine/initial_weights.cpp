#include "chargpt/engine/initial_weights.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "chargpt/base/error.hpp"
#include "chargpt/base/model_file.hpp"
#include "chargpt/engine/model_file.hpp"

namespace chargpt {
namespace {

/// Ids that mean the same character in two vocabularies.
struct Matches {
  std::vector<std::int64_t> from, to;
};

Matches match(const Tokenizer& from, const Tokenizer& to) {
  std::map<std::string, std::int64_t> ids;
  for (std::int32_t id = 0; id < from.size(); ++id) ids[from.symbol(id)] = id;
  Matches matches;
  for (std::int32_t id = 0; id < to.size(); ++id) {
    const auto found = ids.find(to.symbol(id));
    if (found == ids.end()) continue;
    matches.from.push_back(found->second);
    matches.to.push_back(id);
  }
  return matches;
}

/// The file's weights, as those of `config`'s model with as many characters as the file has.
std::vector<float> read_values(const SafetensorsFile& file, const ModelConfig& config, const ParameterLayout& layout) {
  std::vector<float> values(static_cast<std::size_t>(layout.size()));
  try {
    copy_parameters(file, layout, "", values);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} (wanted are the weights of the model that the config describes: layers "
                                          "{}, heads {}, width {}, context {})",
                                          error.what(), config.layers, config.heads, config.width, config.context));
  }
  return values;
}

bool has_row_per_character(const std::string& name) {
  return name == "token_emb.weight" || name == "lm.weight" || name == "lm.bias";
}

/// Copies the weights of a model that differs from `layout`'s in the number of characters only.
void copy_weights(const ParameterLayout& from_layout, std::span<const float> from, const ParameterLayout& layout,
                  std::span<float> to, const Matches& matches) {
  for (std::size_t i = 0; i < layout.entries().size(); ++i) {
    const auto& source = from_layout.entries()[i];
    const auto& target = layout.entries()[i];
    if (!has_row_per_character(target.name)) {
      std::copy_n(from.data() + source.offset, source.count, to.data() + target.offset);
      continue;
    }
    const std::int64_t row = target.count / target.shape[0];
    for (std::size_t m = 0; m < matches.to.size(); ++m) {
      std::copy_n(from.data() + source.offset + matches.from[m] * row, row,
                  to.data() + target.offset + matches.to[m] * row);
    }
  }
}

}  // namespace

InitialWeights load_initial_weights(const std::string& path, CharGPT& model, const Tokenizer& tokenizer) {
  const SafetensorsFile file(path);
  const bool has_vocabulary = file.metadata().contains("vocabulary");
  const Tokenizer vocabulary = has_vocabulary ? vocabulary_of(file) : tokenizer;
  const ParameterLayout layout(model->config(), vocabulary.size());
  const std::vector<float> values = read_values(file, model->config(), layout);
  const Matches matches = match(vocabulary, tokenizer);
  const torch::NoGradGuard no_grad;
  const torch::Tensor flat = model->flat().values();
  const torch::Tensor staged = flat.cpu().clone();
  copy_weights(layout, values, model->flat().layout(), numbers(staged), matches);
  flat.detach().copy_(staged);
  const auto taken = static_cast<std::int64_t>(matches.to.size());
  return {file.verified(), has_vocabulary, taken, tokenizer.size() - taken, vocabulary.size() - taken};
}

}  // namespace chargpt
