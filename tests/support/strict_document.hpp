#pragma once

#include <optional>
#include <string>

#include "chargpt/base/error.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {

/// The string in the field "text" of a line of JSONL, by parse_json(); nothing where it refuses the line or finds none.
inline std::optional<std::string> strict_document(const std::string& line) {
  try {
    const Json record = parse_json(line, {.source = "line"});
    if (!record.is_object() || !record.contains("text") || !record["text"].is_string()) return std::nullopt;
    return record["text"].get<std::string>();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace chargpt
