#pragma once

#include <iosfwd>

#include "chargpt/base/config_loader.hpp"

namespace chargpt {

// The subcommands of `chargpt config`. Each writes its result to `out` and throws Error as its source of configs does.

/// Every key in order, one a line: `key = value   # origin`, values as JSON. With `json` the config as a file holds it.
ExitCode config_show(const LoadedConfig& loaded, bool json, std::ostream& out);

/// Applies check_rules and says how many keys are set otherwise than by default: "ok: 3 keys set", or {"ok": true,
/// "set": 3}.
ExitCode config_check(const LoadedConfig& loaded, bool json, std::ostream& out);

/// The keys that differ, one a line: `key: left -> right`, or one object {"key": [left, right]}; nothing or {} when
/// equal.
ExitCode config_diff(const LoadedConfig& left, const LoadedConfig& right, bool json, std::ostream& out);

/// The JSON schema of a config file, for editors.
ExitCode config_print_schema(std::ostream& out);

/// A config file that holds every key with its default.
ExitCode config_init(std::ostream& out);

}  // namespace chargpt
