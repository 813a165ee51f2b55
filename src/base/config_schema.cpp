#include <fmt/format.h>

#include <cmath>

#include "chargpt/base/config_loader.hpp"

namespace chargpt {
namespace {

void put_bound(Json& schema, const char* closed_name, const char* open_name, double bound, bool open) {
  if (!std::isfinite(bound)) return;
  const char* name = open ? open_name : closed_name;
  if (bound == std::trunc(bound)) {
    schema[name] = static_cast<std::int64_t>(bound);
  } else {
    schema[name] = bound;
  }
}

Json number_schema(const char* type, const Range& range) {
  Json schema = {{"type", type}};
  put_bound(schema, "minimum", "exclusiveMinimum", range.low, range.low_open);
  put_bound(schema, "maximum", "exclusiveMaximum", range.high, range.high_open);
  return schema;
}

/// Another schema's values, or texts of a pattern.
Json or_text(Json schema, const char* pattern) {
  return {{"anyOf", {std::move(schema), {{"type", "string"}, {"pattern", pattern}}}}};
}

struct ValueSchema {
  const ConfigKey& key;

  Json operator()(const bool*) const { return {{"type", "boolean"}}; }
  Json operator()(const std::int64_t*) const { return number_schema("integer", key.range); }
  Json operator()(const double*) const { return number_schema("number", key.range); }
  Json operator()(const std::string*) const { return {{"type", "string"}}; }
  Json operator()(const std::vector<double>*) const {
    return {{"type", "array"}, {"items", number_schema("number", key.range)}};
  }
  Json operator()(const std::vector<std::string>*) const {
    return {{"type", Json::array({"string", "array"})}, {"items", {{"type", "string"}}}};
  }
  Json operator()(const Interval*) const {
    return or_text(number_schema("integer", key.range), "^\\d+ (step|epoch|second|minute|hour)s?$");
  }
  Json operator()(const PartOfRun*) const {
    return or_text(number_schema("integer", key.range), "^\\d+(\\.\\d+)? ?%$");
  }
  Json operator()(const AutoInteger*) const { return or_text(number_schema("integer", key.range), "^auto$"); }
  Json operator()(const Choice& choice) const { return {{"type", "string"}, {"enum", choice.names}}; }
};

Json key_schema(const ConfigKey& key) {
  Json schema = std::visit(ValueSchema{key}, key.value);
  schema["default"] = key.get();
  schema["description"] = key.help;
  return schema;
}

Json closed_object() { return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}; }

/// What a key may be, for the table: "integer, 1 to 1024", or the names of a choice.
std::string values_cell(const ConfigKey& key) {
  if (const auto* choice = std::get_if<Choice>(&key.value))
    return fmt::format("`{}`", fmt::join(choice->names, "`, `"));
  if (std::holds_alternative<bool*>(key.value)) return "`true`, `false`";
  const std::string range = key.range.text();
  return range.empty() ? key.type() : key.type() + ", " + range;
}

}  // namespace

Json to_json(const Config& config) {
  Config copy = config;
  Json json = Json::object();
  const KeyList keys = describe(copy);
  for (const ConfigKey& key : keys.keys()) json[std::string(key.section())][std::string(key.leaf())] = key.get();
  return json;
}

Json config_schema() {
  Config defaults;
  const KeyList keys = describe(defaults);
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "chargpt config"}};
  schema.update(closed_object());
  Json& sections = schema["properties"];
  sections["$schema"] = {{"type", "string"}};
  sections["include"] = {
      {"type", Json::array({"string", "array"})},
      {"items", {{"type", "string"}}},
      {"description", "Config files, relative to this one, that are read first and overridden by it."}};
  for (const ConfigKey& key : keys.keys()) {
    const std::string section(key.section());
    if (!sections.contains(section)) sections[section] = closed_object();
    sections[section]["properties"][std::string(key.leaf())] = key_schema(key);
  }
  return schema;
}

std::string config_markdown() {
  Config defaults;
  const KeyList keys = describe(defaults);
  std::string table = "| key | values | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const ConfigKey& key : keys.keys()) {
    table += fmt::format("| `{}` | {} | `{}` | {} |\n", key.name, values_cell(key), key.get().dump(), key.help);
  }
  return table;
}

}  // namespace chargpt
