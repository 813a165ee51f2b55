#include "chargpt/engine/initial_weights.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <map>
#include <vector>

#include "chargpt/base/error.hpp"
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

/// The file's model: `config`'s with as many characters as the file has.
CharGPT read_model(const SafetensorsFile& file, const ModelConfig& config, std::int64_t vocabulary) {
  CharGPT model(config, vocabulary);
  try {
    read_weights(file, model);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{} (wanted are the weights of the model that the config describes: layers {}, heads {}, "
                            "width {}, context {}; vocabulary {})",
                            error.what(), config.layers, config.heads, config.width, config.context, vocabulary));
  }
  return model;
}

torch::Tensor part(const torch::Tensor& flat, const FlatParameters::Entry& entry) {
  return flat.narrow(0, entry.offset, entry.count).view(entry.shape);
}

bool has_row_per_character(const std::string& name) {
  return name == "token_emb.weight" || name == "lm.weight" || name == "lm.bias";
}

/// Both models have the same parameters but for the number of characters.
void copy_weights(CharGPT& from, CharGPT& to, const Matches& matches) {
  const torch::NoGradGuard no_grad;
  const torch::Device device = to->device();
  const torch::Tensor values = from->flat().values().to(device);
  const torch::Tensor from_rows = torch::tensor(matches.from, torch::kLong).to(device);
  const torch::Tensor to_rows = torch::tensor(matches.to, torch::kLong).to(device);
  for (std::size_t i = 0; i < to->flat().entries().size(); ++i) {
    const FlatParameters::Entry& entry = to->flat().entries()[i];
    const torch::Tensor source = part(values, from->flat().entries()[i]);
    const torch::Tensor target = part(to->flat().values(), entry);
    if (has_row_per_character(entry.name)) {
      target.index_copy_(0, to_rows, source.index_select(0, from_rows));
    } else {
      target.copy_(source);
    }
  }
}

}  // namespace

InitialWeights load_initial_weights(const std::string& path, CharGPT& model, const Tokenizer& tokenizer) {
  const SafetensorsFile file(path);
  const bool has_vocabulary = file.metadata().contains("vocabulary");
  const Tokenizer vocabulary = has_vocabulary ? model_vocabulary(file) : tokenizer;
  CharGPT source = read_model(file, model->config(), vocabulary.size());
  const Matches matches = match(vocabulary, tokenizer);
  copy_weights(source, model, matches);
  const auto taken = static_cast<std::int64_t>(matches.to.size());
  return {file.verified(), has_vocabulary, taken, tokenizer.size() - taken, vocabulary.size() - taken};
}

}  // namespace chargpt
