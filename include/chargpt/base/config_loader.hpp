#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {

/// A key set on the command line.
struct Override {
  std::string key;    ///< "section.key"
  std::string value;  ///< as typed
  std::string flag;   ///< "--set", or the flag that stands for the key; names it in messages and provenance
};

/// From "section.key=value", the argument of --set. Error(usage) without an equals sign.
Override parse_override(const std::string& text);

/// Where values may come from, weakest first: defaults, `base`, file, environment, `overrides`.
struct ConfigSources {
  Json base;                                                     ///< null, or the stored config of a run to be resumed
  std::string base_name;                                         ///< names `base` in messages and provenance
  std::string file;                                              ///< path, empty for none; may `include` other files
  std::vector<std::pair<std::string, std::string>> environment;  ///< all variables; those named CHARGPT_* are ours
  std::vector<Override> overrides;                               ///< later ones win
};

struct LoadedConfig {
  Config config;
  std::map<std::string, std::string>
      origin;  ///< key name -> "default", "configs/a.json", "CHARGPT_…", "--set", base_name
};

/// Resolves a config. In a file: objects of sections; "$schema" is allowed; "include" (a path or a list of paths,
/// relative to the file, at most 16 deep and 64 in all, no cycles) is read first and overridden by the file. An
/// override's or environment variable's value is read as JSON where the key is a number, list, interval or truth value,
/// and as it stands where it is text or a choice. Errors: Error(usage) for an unknown key (nearest key and its section
/// named), a wrong type or range, a bad file; Error(no_input) for a file that is missing. Cross-key rules are not
/// checked here: see check_rules.
LoadedConfig load_config(const ConfigSources& sources);

/// The whole config as nested sections; feeding it back gives the same config.
Json to_json(const Config& config);

/// A config from what to_json made; strict like load_config, `source` names it in messages.
Config config_from_json(const Json& json, const std::string& source);

/// JSON Schema (draft 2020-12) of a config file.
Json config_schema();

/// The Markdown table of all keys that stands in README.md.
std::string config_markdown();

}  // namespace chargpt
