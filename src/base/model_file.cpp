#include "chargpt/base/model_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/model_size.hpp"

namespace chargpt {
namespace {

constexpr const char* kFormat = "chargpt-model";
constexpr const char* kFormatVersion = "1";

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw Error(ExitCode::unusable_model, fmt::format("{}: {}", path, reason));
}

const std::string& metadata(const SafetensorsFile& file, const char* key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    refuse(file.path(), fmt::format("no \"{}\" in its metadata: this is not a model file of chargpt (weights that "
                                    "Python saved start a run by train --init)",
                                    key));
  }
  return found->second;
}

void require_known_format(const SafetensorsFile& file) {
  const std::string& format = metadata(file, "format");
  if (format != kFormat) refuse(file.path(), fmt::format("its format is {}, wanted \"{}\"", shown(format), kFormat));
  const std::string& version = metadata(file, "version");
  if (version != kFormatVersion) {
    refuse(file.path(), fmt::format("its version is {}, this program reads \"{}\"", shown(version), kFormatVersion));
  }
}

constexpr std::size_t kMaxSymbols = 0x110000;  // Unicode has no more code points

Json metadata_json(const SafetensorsFile& file, const char* key) {
  return parse_json(metadata(file, key), {.source = fmt::format("{}: metadata \"{}\"", file.path(), key),
                                          .code = ExitCode::unusable_model,
                                          .max_values = kMaxSymbols});
}

Normalization read_normalization(const SafetensorsFile& file) {
  const auto found = file.metadata().find("normalization");
  if (found == file.metadata().end()) return Normalization::none;
  for (const Normalization form : {Normalization::none, Normalization::nfc, Normalization::nfkc}) {
    if (found->second == name(form)) return form;
  }
  refuse(file.path(), fmt::format("its normalization is {}, wanted none, nfc or nfkc", shown(found->second)));
}

ModelConfig read_config(const SafetensorsFile& file) {
  require_known_format(file);
  const std::string source = file.path() + ": metadata \"config\"";
  Json sections = Json::object();
  sections["model"] = metadata_json(file, "config");
  Config config;
  try {
    config = config_from_json(sections, source);
  } catch (const Error& error) {
    throw Error(ExitCode::unusable_model, error.what());
  }
  try {
    check_rules(config);
  } catch (const Error& error) {
    refuse(source, error.what());
  }
  return config.model;
}

/// Refuses metadata that claim far more than the file holds before anything of that size is allocated. What is nearly
/// right is reported tensor by tensor.
ParameterLayout plausible_layout(const SafetensorsFile& file, const ModelConfig& config, std::int64_t vocabulary) {
  std::int64_t numbers = 0;
  for (const TensorEntry& tensor : file.tensors()) {
    numbers += static_cast<std::int64_t>((tensor.end - tensor.begin) / sizeof(float));
  }
  const std::int64_t parameters = parameter_count(config, vocabulary);
  if (parameters / 2 > numbers + (1 << 20)) {
    refuse(file.path(),
           fmt::format("its config and vocabulary make {} parameters, but its tensors hold {} numbers of 4 bytes",
                       parameters, numbers));
  }
  return {config, vocabulary};
}

void require_fit(const SafetensorsFile& file, const TensorEntry& tensor, const ParameterLayout::Entry& entry) {
  if (tensor.dtype == "F32" && tensor.shape == entry.shape) return;
  refuse(file.path(), fmt::format("tensor {} is {} of shape {}, wanted F32 of shape {}", tensor.name, tensor.dtype,
                                  tensor.shape, entry.shape));
}

/// One tensor under both names that it may have.
void require_equal(const SafetensorsFile& file, const TensorEntry& one, const TensorEntry& other) {
  const auto first = file.bytes(one), second = file.bytes(other);
  if (std::equal(first.begin(), first.end(), second.begin(), second.end())) return;
  refuse(file.path(),
         fmt::format("tensors {} and {} differ, but with a tied head (model.tied_head = true) they are one: "
                     "leave one out, or set model.tied_head to false",
                     one.name, other.name));
}

/// The layout's tensors in its order.
std::vector<const TensorEntry*> find_parameters(const SafetensorsFile& file, const ParameterLayout& layout,
                                                const std::string& prefix, const std::set<std::string>& besides) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < layout.entries().size(); ++i) {
    const auto& entry = layout.entries()[i];
    places.emplace(prefix + entry.name, i);
    if (!entry.alias.empty()) places.emplace(prefix + entry.alias, i);
  }
  std::vector<const TensorEntry*> found(layout.entries().size(), nullptr);
  for (const TensorEntry& tensor : file.tensors()) {
    if (!tensor.name.starts_with(prefix) || besides.contains(tensor.name)) continue;
    const auto place = places.find(tensor.name);
    if (place == places.end()) {
      refuse(file.path(), fmt::format("tensor {} does not belong to this model", shown(tensor.name)));
    }
    require_fit(file, tensor, layout.entries()[place->second]);
    const TensorEntry*& slot = found[place->second];
    if (slot != nullptr) require_equal(file, *slot, tensor);
    slot = &tensor;
  }
  const auto missing = std::find(found.begin(), found.end(), nullptr);
  if (missing != found.end()) {
    const auto place = static_cast<std::size_t>(missing - found.begin());
    refuse(file.path(), fmt::format("tensor {} is missing", prefix + layout.entries()[place].name));
  }
  return found;
}

}  // namespace

ModelFile::ModelFile(const std::string& path)
    : file_(path),
      config_(read_config(file_)),
      tokenizer_(read_vocabulary(file_)),
      layout_(plausible_layout(file_, config_, tokenizer_.size())) {
  find_parameters(file_, layout_, "", {});
}

bool has_vocabulary(const SafetensorsFile& file) {
  const auto format = file.metadata().find("format");
  return file.metadata().contains("vocabulary") || (format != file.metadata().end() && format->second == kFormat);
}

Tokenizer read_vocabulary(const SafetensorsFile& file) {
  if (!file.metadata().contains("vocabulary")) return Tokenizer::bytes();
  return Tokenizer::from_json(metadata_json(file, "vocabulary"), file.path(), read_normalization(file));
}

void ModelFile::copy_values(std::span<float> values) const { copy_parameters(file_, layout_, "", values); }

WrittenFile write_model_file(const std::string& path, const ModelConfig& config, const Tokenizer& tokenizer,
                             std::span<const float> values) {
  Config whole;
  whole.model = config;
  std::map<std::string, std::string> metadata = {
      {"format", kFormat}, {"version", kFormatVersion}, {"config", to_json_line(to_json(whole).at("model"))}};
  if (!tokenizer.is_bytes()) metadata["vocabulary"] = to_json_line(tokenizer.to_json());
  if (tokenizer.normalization() != Normalization::none) {
    metadata["normalization"] = name(tokenizer.normalization());
  }
  return write_safetensors(path, parameter_views(ParameterLayout(config, tokenizer.size()), values), metadata);
}

std::vector<TensorView> parameter_views(const ParameterLayout& layout, std::span<const float> values,
                                        const std::string& prefix) {
  std::vector<TensorView> views;
  for (const auto& entry : layout.entries()) {
    views.push_back({prefix + entry.name, entry.shape, values.data() + entry.offset});
  }
  return views;
}

void require_finite(const SafetensorsFile& file, const TensorEntry& tensor) {
  if (tensor.dtype != "F32") return;
  const auto bytes = file.bytes(tensor);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof(float));
    if (!std::isfinite(value))
      refuse(file.path(), fmt::format("tensor {} holds a value that is not finite", tensor.name));
  }
}

void copy_parameters(const SafetensorsFile& file, const ParameterLayout& layout, const std::string& prefix,
                     std::span<float> values, const std::set<std::string>& besides) {
  const auto tensors = find_parameters(file, layout, prefix, besides);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = file.bytes(*tensors[i]);
    const auto target =
        values.subspan(static_cast<std::size_t>(layout.entries()[i].offset), bytes.size() / sizeof(float));
    if (bytes.empty()) continue;
    std::memcpy(target.data(), bytes.data(), bytes.size());
    require_finite(file, *tensors[i]);
  }
}

}  // namespace chargpt
