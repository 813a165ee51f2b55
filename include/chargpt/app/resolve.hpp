#pragma once

#include <string>
#include <vector>

#include "chargpt/app/arguments.hpp"
#include "chargpt/base/config_loader.hpp"
#include "chargpt/commands/request.hpp"

namespace chargpt {

/// The config that the arguments and the environment give, over `base` (null, or a run's stored config named
/// `base_name`).
LoadedConfig resolve_config(const Arguments& arguments, const Json& base = nullptr, const std::string& base_name = "");

/// The stored config of a run folder or checkpoint folder. Errors: no_input, unusable_model.
Json stored_config(const std::string& folder);

/// What all commands hand over alike.
Request make_request(Command command, const Arguments& arguments, const Config& config);

/// --run, --model or, without either, the newest run under runs/, which is then named on stderr. Errors: usage,
/// no_input.
ModelChoice choose_model_arguments(const Arguments& arguments);

/// The config for work with a model: that of its run, if it has one, but for the device, with what the arguments say.
/// Rules are checked.
Config model_config(const Arguments& arguments, const ModelChoice& model);

/// Error(usage) for a key that was given by --set or a flag, and is none of `effective`: keys, or sections with their
/// dot. A command that would ignore it must say so.
void refuse_without_effect(const Arguments& arguments, const std::string& command,
                           const std::vector<std::string>& effective);

/// `text` with each {section.key} replaced by the key's value, made safe for a file name. Error(usage) for unknown
/// keys.
std::string fill_placeholders(const std::string& text, const Config& config);

}  // namespace chargpt
