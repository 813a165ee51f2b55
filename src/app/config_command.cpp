#include "chargpt/app/config_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace chargpt {
namespace {

ExitCode print(const Json& json, std::ostream& out) {
  out << json.dump(2) << '\n';
  return ExitCode::ok;
}

}  // namespace

ExitCode config_show(const LoadedConfig& loaded, bool json, std::ostream& out) {
  if (json) return print(to_json(loaded.config), out);
  Config config = loaded.config;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) {
    out << fmt::format("{} = {}   # {}\n", key.name, key.get().dump(), loaded.origin.at(key.name));
  }
  return ExitCode::ok;
}

ExitCode config_check(const LoadedConfig& loaded, bool json, std::ostream& out) {
  check_rules(loaded.config);
  const auto is_set = [](const auto& entry) { return entry.second != "default"; };
  const auto set = std::count_if(loaded.origin.begin(), loaded.origin.end(), is_set);
  if (json) return print({{"ok", true}, {"set", set}}, out);
  out << fmt::format("ok: {} {} set\n", set, set == 1 ? "key" : "keys");
  return ExitCode::ok;
}

ExitCode config_diff(const LoadedConfig& left, const LoadedConfig& right, bool json, std::ostream& out) {
  Config left_config = left.config;
  Config right_config = right.config;
  const KeyList left_keys = describe(left_config);
  const KeyList right_keys = describe(right_config);
  Json differences = Json::object();
  for (const ConfigKey& key : left_keys.keys()) {
    const Json other = right_keys.find(key.name)->get();
    if (key.get() != other) differences[key.name] = Json::array({key.get(), other});
  }
  if (json) return print(differences, out);
  for (const auto& [name, values] : differences.items()) {
    out << fmt::format("{}: {} -> {}\n", name, values[0].dump(), values[1].dump());
  }
  return ExitCode::ok;
}

ExitCode config_print_schema(std::ostream& out) { return print(config_schema(), out); }

ExitCode config_init(std::ostream& out) { return print(to_json(Config{}), out); }

}  // namespace chargpt
