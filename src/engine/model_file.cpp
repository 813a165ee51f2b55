#include "chargpt/engine/model_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstring>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/model_size.hpp"

namespace chargpt {
namespace {

constexpr const char* kFormat = "chargpt-model";
constexpr const char* kVersion = "1";

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw Error(ExitCode::unusable_model, fmt::format("{}: {}", path, reason));
}

const std::string& metadata(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    refuse(file.path(),
           fmt::format(
               "no \"{}\" in its metadata: this is not a model file of chargpt (weights that Python saved start a run "
               "by train --init)",
               key));
  }
  return found->second;
}

Json metadata_json(const SafetensorsFile& file, const std::string& key) {
  return parse_json(metadata(file, key),
                    {fmt::format("{}: metadata \"{}\"", file.path(), key), ExitCode::unusable_model});
}

ModelConfig model_config(const SafetensorsFile& file) {
  Json sections = Json::object();
  sections["model"] = metadata_json(file, "config");
  try {
    const Config config = config_from_json(sections, file.path() + ": metadata \"config\"");
    check_rules(config);
    return config.model;
  } catch (const Error& error) {
    throw Error(ExitCode::unusable_model, error.what());
  }
}

/// Refuses metadata that claim far more than the file holds before anything of that size is allocated. What is nearly
/// right is reported tensor by tensor.
void require_plausible_size(const SafetensorsFile& file, std::int64_t parameters) {
  std::int64_t numbers = 0;
  for (const TensorEntry& tensor : file.tensors()) {
    numbers += static_cast<std::int64_t>((tensor.end - tensor.begin) / sizeof(float));
  }
  if (parameters / 2 <= numbers + (1 << 20)) return;
  refuse(file.path(),
         fmt::format("its config and vocabulary make {} parameters, but its tensors hold {} numbers of 4 bytes",
                     parameters, numbers));
}

/// A state dict whose head is tied to the embedding holds the matrix once.
void refuse_tied_head(const SafetensorsFile& file) {
  if (file.find("lm.weight") != nullptr || file.find("token_emb.weight") == nullptr) return;
  refuse(file.path(),
         "tensor lm.weight is missing: it looks as if the head were tied to token_emb.weight; a model here has a head "
         "of its own: save a copy of token_emb.weight as lm.weight, and lm.bias");
}

void require_equal(const SafetensorsFile& file, const TensorEntry& tensor, const torch::Tensor& buffer) {
  const torch::Tensor wanted = buffer.to(torch::kCPU, torch::kFloat).contiguous();
  const auto bytes = file.bytes(tensor);
  if (tensor.dtype == "F32" && tensor.shape == wanted.sizes().vec() &&
      std::memcmp(bytes.data(), wanted.const_data_ptr(), bytes.size()) == 0) {
    return;
  }
  refuse(file.path(), fmt::format("tensor {} ({} of shape {}) is not what this model masks with: F32 of shape {}, ones "
                                  "on and below the diagonal, zeros above",
                                  tensor.name, tensor.dtype, tensor.shape, wanted.sizes().vec()));
}

}  // namespace

Tokenizer model_vocabulary(const SafetensorsFile& file) {
  return Tokenizer::from_json(metadata_json(file, "vocabulary"), file.path() + ": vocabulary");
}

std::vector<TensorView> tensor_views(const FlatParameters& parameters, const torch::Tensor& flat,
                                     const std::string& prefix) {
  std::vector<TensorView> views;
  for (const auto& entry : parameters.entries()) {
    views.push_back({prefix + entry.name, entry.shape, flat.const_data_ptr<float>() + entry.offset});
  }
  return views;
}

WrittenFile save_model(const std::string& path, CharGPT& model, const Tokenizer& tokenizer) {
  Config config;
  config.model = model->config();
  const torch::Tensor values = model->flat().values().cpu();
  return write_safetensors(path, tensor_views(model->flat(), values),
                           {{"format", kFormat},
                            {"version", kVersion},
                            {"config", to_json_line(to_json(config).at("model"))},
                            {"vocabulary", to_json_line(tokenizer.to_json())}});
}

void read_weights(const SafetensorsFile& file, CharGPT& model) {
  refuse_tied_head(file);
  const auto buffers = model->named_buffers();
  for (const TensorEntry& tensor : file.tensors()) {
    if (const torch::Tensor* buffer = buffers.find(tensor.name)) require_equal(file, tensor, *buffer);
  }
  FlatParameters& flat = model->flat();
  read_flat(file, flat, "", flat.values(), [&](const std::string& name) { return buffers.contains(name); });
  require_finite(flat, flat.values(), file.path());
}

void read_flat(const SafetensorsFile& file, const FlatParameters& parameters, const std::string& prefix,
               const torch::Tensor& flat, const std::function<bool(const std::string&)>& ignored) {
  torch::Tensor staged = torch::empty({parameters.size()}, torch::kFloat);
  for (const auto& entry : parameters.entries()) {
    const std::string name = prefix + entry.name;
    const TensorEntry* tensor = file.find(name);
    if (tensor == nullptr) refuse(file.path(), fmt::format("tensor {} is missing", name));
    if (tensor->dtype != "F32" || tensor->shape != entry.shape) {
      refuse(file.path(), fmt::format("tensor {} is {} of shape {}, wanted F32 of shape {}", name, tensor->dtype,
                                      tensor->shape, entry.shape));
    }
    const auto bytes = file.bytes(*tensor);
    std::memcpy(staged.data_ptr<float>() + entry.offset, bytes.data(), bytes.size());
  }
  const auto wanted = [&](const TensorEntry& tensor) {
    if (!tensor.name.starts_with(prefix) || (ignored && ignored(tensor.name))) return true;
    const auto& entries = parameters.entries();
    return std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return prefix + e.name == tensor.name; });
  };
  for (const auto& tensor : file.tensors()) {
    if (!wanted(tensor)) refuse(file.path(), fmt::format("tensor {} does not belong to this model", tensor.name));
  }
  const torch::NoGradGuard no_grad;
  flat.copy_(staged);
}

void require_finite(const FlatParameters& parameters, const torch::Tensor& flat, const std::string& source) {
  if (at::isfinite(flat).all().item<bool>()) return;
  for (const auto& entry : parameters.entries()) {
    if (!at::isfinite(flat.narrow(0, entry.offset, entry.count)).all().item<bool>()) {
      refuse(source, fmt::format("tensor {} holds a value that is not finite", entry.name));
    }
  }
}

LoadedModel load_model(const std::string& path, torch::Device device, AttentionPath path_of_attention) {
  const SafetensorsFile file(path);
  if (metadata(file, "format") != kFormat)
    refuse(path, fmt::format("its format is \"{}\", wanted \"{}\"", metadata(file, "format"), kFormat));
  if (metadata(file, "version") != kVersion) {
    refuse(path, fmt::format("its version is \"{}\", this program reads {}", metadata(file, "version"), kVersion));
  }
  ModelConfig config = model_config(file);
  config.attention = path_of_attention;
  Tokenizer tokenizer = model_vocabulary(file);
  require_plausible_size(file, parameter_count(config, tokenizer.size()));
  LoadedModel loaded{CharGPT(config, tokenizer.size(), torch::TensorOptions(torch::kFloat).device(device)),
                     std::move(tokenizer), file.verified()};
  read_weights(file, loaded.model);
  return loaded;
}

}  // namespace chargpt
