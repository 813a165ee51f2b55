#include "chargpt/base/config_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "chargpt/base/file.hpp"
#include "chargpt/base/nearest.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::uint64_t kMaxFileSize = 1 << 20;
constexpr std::size_t kMaxIncludeDepth = 16;
constexpr int kMaxFiles = 64;  // in all: each of a few that name the next twice would be read for ever
constexpr std::string_view kVariablePrefix = "CHARGPT_";

std::vector<std::string> section_names(const KeyList& keys) {
  std::vector<std::string> names;
  for (const ConfigKey& key : keys.keys()) {
    if (names.empty() || names.back() != key.section()) names.emplace_back(key.section());
  }
  return names;
}

std::vector<std::string> leaf_names(const std::vector<const ConfigKey*>& keys) {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const ConfigKey* key : keys) names.emplace_back(key->leaf());
  return names;
}

/// CHARGPT_SECTION_KEY
std::string variable_name(const ConfigKey& key) {
  std::string name(kVariablePrefix);
  for (const char c : key.name) name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

/// The key that was probably meant by `leaf` in `section`, which need not exist: the nearest last part, where the given
/// section is looked at first and then the others in order. nullptr if none is near.
const ConfigKey* likely_key(const KeyList& keys, const std::string& section, const std::string& leaf) {
  const std::string meant_section = nearest(section, section_names(keys));
  std::vector<const ConfigKey*> candidates;
  for (const ConfigKey& key : keys.keys()) candidates.push_back(&key);
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](const ConfigKey* key) { return key->section() == meant_section; });
  const std::string meant = nearest(leaf, leaf_names(candidates));
  const auto found =
      std::find_if(candidates.begin(), candidates.end(), [&](const ConfigKey* key) { return key->leaf() == meant; });
  return found == candidates.end() ? nullptr : *found;
}

[[noreturn]] void refuse_unknown_section(const KeyList& keys, const std::string& section, const std::string& where) {
  const std::vector<std::string> sections = section_names(keys);
  const std::string near = nearest(section, sections);
  fail_usage(fmt::format("{}: unknown section {}; {}", where, shown(section),
                         near.empty() ? fmt::format("the sections are {}", fmt::join(sections, ", "))
                                      : fmt::format("did you mean \"{}\"?", near)));
}

/// `name` is "section.key" as the user wrote it, or a key without its section.
[[noreturn]] void refuse_unknown_key(const KeyList& keys, const std::string& name, const std::string& where) {
  const auto dot = name.find('.');
  const std::string section = dot == std::string::npos ? "" : name.substr(0, dot);
  const std::string leaf = dot == std::string::npos ? name : name.substr(dot + 1);
  const std::string unknown = fmt::format("{}: unknown key {}; ", where, shown(name));
  if (const ConfigKey* key = likely_key(keys, section, leaf))
    fail_usage(fmt::format("{}did you mean \"{}\"?", unknown, key->name));
  std::vector<const ConfigKey*> siblings;
  for (const ConfigKey& key : keys.keys()) {
    if (key.section() == section) siblings.push_back(&key);
  }
  if (siblings.empty()) fail_usage(fmt::format("{}the sections are {}", unknown, fmt::join(section_names(keys), ", ")));
  fail_usage(fmt::format("{}the keys of {} are {}", unknown, section, fmt::join(leaf_names(siblings), ", ")));
}

[[noreturn]] void refuse_unknown_variable(const KeyList& keys, const std::string& variable) {
  std::string leaf = variable.substr(kVariablePrefix.size());
  std::transform(leaf.begin(), leaf.end(), leaf.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  std::string section;
  for (const std::string& known : section_names(keys)) {
    if (leaf.starts_with(known + "_")) section = known;
  }
  if (!section.empty()) leaf = leaf.substr(section.size() + 1);
  std::vector<std::string> variables;
  for (const ConfigKey& key : keys.keys()) variables.push_back(variable_name(key));
  const ConfigKey* key = likely_key(keys, section, leaf);
  const std::string meant = key != nullptr ? variable_name(*key) : nearest(variable, variables);
  fail_usage(fmt::format(
      "{}: unknown environment variable; {}", variable,
      meant.empty() ? "unset it: CHARGPT_SECTION_KEY sets a config key, and \"chargpt config show\" lists the keys"
                    : fmt::format("did you mean {}?", meant)));
}

void require_utf8(const std::string& text, const std::string& where) {
  try {
    decode_utf8(text, where);
  } catch (const Error& error) {
    fail_usage(error.what());
  }
}

/// A value given as a text: taken as it stands for texts and choices, as JSON for numbers and lists. What is no JSON
/// becomes a JSON text, so that the key refuses it with the words that it has for a wrong type.
Json value_from_text(const ConfigKey& key, const std::string& text, const std::string& where) {
  require_utf8(text, where);
  if (std::holds_alternative<std::string*>(key.value) || std::holds_alternative<Choice>(key.value)) return text;
  try {
    return parse_json(text, {.source = where});
  } catch (const Error&) {
    return text;
  }
}

/// Puts the sources over one another.
class Resolver {
 public:
  Resolver() : keys_(describe(loaded_.config)) {
    for (const ConfigKey& key : keys_.keys()) loaded_.origin[key.name] = "default";
  }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  void apply(const Json& json, const std::string& source) {
    require_object(json, source);
    for (const auto& [name, value] : json.items()) apply_section(name, value, source);
  }

  void apply_file(const std::string& path) {
    const auto same = [&](const std::string& open) {
      std::error_code ignored;  // a file that cannot be looked at is reported when it is read
      return std::filesystem::equivalent(open, path, ignored);
    };
    const bool cycle = std::any_of(open_files_.begin(), open_files_.end(), same);
    open_files_.push_back(path);
    const std::string chain = fmt::format("{}", fmt::join(open_files_, " -> "));
    if (cycle) fail_usage(fmt::format("{}: the file includes itself: remove one \"include\" of this chain", chain));
    if (open_files_.size() > 1 + kMaxIncludeDepth) {
      fail_usage(fmt::format("{}: \"include\" goes deeper than {} files", chain, kMaxIncludeDepth));
    }
    if (++files_ > kMaxFiles) fail_usage(fmt::format("{}: \"include\" names more than {} files", chain, kMaxFiles));
    Json json = parse_json(read_innermost(), {.source = path});
    require_object(json, path);
    take_schema(json, path);
    for (const std::string& included : take_includes(json, path)) apply_file(included);
    apply(json, path);
    open_files_.pop_back();
  }

  void apply_variable(const std::string& variable, const std::string& value) {
    const auto& keys = keys_.keys();
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& key) { return variable_name(key) == variable; });
    if (found == keys.end()) refuse_unknown_variable(keys_, variable);
    set(*found, value_from_text(*found, value, variable), variable);
  }

  void apply_override(const Override& override) {
    const ConfigKey* key = keys_.find(override.key);
    if (key == nullptr) refuse_unknown_key(keys_, override.key, override.flag);
    set(*key, value_from_text(*key, override.value, override.flag + " " + override.key), override.flag);
  }

  LoadedConfig take() { return std::move(loaded_); }

 private:
  static void require_object(const Json& json, const std::string& where) {
    if (json.is_object()) return;
    fail_usage(
        fmt::format("{}: got {}, wanted an object such as {{\"train\": {{\"batch\": 32}}}}", where, json.type_name()));
  }

  std::string read_innermost() const {
    try {
      return read_file(open_files_.back(), kMaxFileSize, ExitCode::usage);
    } catch (const Error& error) {
      if (open_files_.size() == 1) throw;
      throw Error(error.code(), fmt::format("{} (included by {})", error.what(), open_files_[open_files_.size() - 2]));
    }
  }

  static void take_schema(Json& json, const std::string& path) {
    if (!json.contains("$schema")) return;
    if (!json["$schema"].is_string()) fail_usage(fmt::format("{}: $schema: wanted a text", path));
    json.erase("$schema");
  }

  /// Removes "include" and returns its paths, seen from where the program runs.
  static std::vector<std::string> take_includes(Json& json, const std::string& path) {
    if (!json.contains("include")) return {};
    const Json include = json["include"].is_array() ? json["include"] : Json::array({json["include"]});
    json.erase("include");
    std::vector<std::string> paths;
    for (const Json& entry : include) {
      if (!entry.is_string()) fail_usage(fmt::format("{}: include: wanted a path or a list of paths", path));
      paths.push_back((std::filesystem::path(path).parent_path() / entry.get<std::string>()).lexically_normal());
    }
    return paths;
  }

  void apply_section(const std::string& section, const Json& json, const std::string& source) {
    if (keys_.find(section) != nullptr) {
      fail_usage(fmt::format("{}: key \"{}\" stands outside its section: write {{\"{}\": {{\"{}\": ...}}}}", source,
                             section, keys_.find(section)->section(), keys_.find(section)->leaf()));
    }
    const std::vector<std::string> sections = section_names(keys_);
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
      if (json.is_object()) refuse_unknown_section(keys_, section, source);
      refuse_unknown_key(keys_, section, source);
    }
    if (!json.is_object()) {
      fail_usage(fmt::format("{}: {}: got {}, wanted an object of keys", source, section, json.type_name()));
    }
    for (const auto& [leaf, value] : json.items()) {
      const std::string name = section + "." + leaf;
      const ConfigKey* key = keys_.find(name);
      if (key == nullptr) refuse_unknown_key(keys_, name, source);
      set(*key, value, source);
    }
  }

  void set(const ConfigKey& key, const Json& value, const std::string& source) {
    key.set(value, source);
    loaded_.origin[key.name] = source;
  }

  LoadedConfig loaded_;
  KeyList keys_;
  std::vector<std::string> open_files_;  ///< the file being read and those that include it, outermost first
  int files_ = 0;                        ///< read so far
};

}  // namespace

Override parse_override(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) fail_usage(fmt::format("--set: got \"{}\", wanted section.key=value", text));
  return {text.substr(0, equals), text.substr(equals + 1), "--set"};
}

LoadedConfig load_config(const ConfigSources& sources) {
  Resolver resolver;
  if (!sources.base.is_null()) resolver.apply(sources.base, sources.base_name);
  if (!sources.file.empty()) resolver.apply_file(sources.file);
  for (const auto& [variable, value] : sources.environment) {
    if (variable.starts_with(kVariablePrefix)) resolver.apply_variable(variable, value);
  }
  for (const Override& override : sources.overrides) resolver.apply_override(override);
  return resolver.take();
}

Config config_from_json(const Json& json, const std::string& source) {
  Resolver resolver;
  resolver.apply(json, source);
  return resolver.take().config;
}

}  // namespace chargpt
