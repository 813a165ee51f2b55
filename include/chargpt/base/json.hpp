#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "chargpt/base/error.hpp"

namespace chargpt {

/// Keeps the order in which keys were written, so that what we write is stable and reads like its source.
using Json = nlohmann::ordered_json;

/// How strictly a text is read, and which exit code a fault in it has.
struct JsonRules {
  std::string source;                ///< names the text in messages, e.g. a file name
  ExitCode code = ExitCode::usage;   ///< of every error
  int first_line = 1;                ///< number of the text's first line in its source
  int max_depth = 64;                ///< deepest nesting of arrays and objects accepted
  std::size_t max_values = 200'000;  ///< most values accepted: what they cost in memory is many times their text
};

/// Reads one JSON value (RFC 8259) and nothing behind it but white space. Beyond the grammar it refuses a key that
/// stands twice in one object, nesting deeper than `max_depth`, more than `max_values` values, invalid UTF-8 and
/// numbers that overflow a double. Errors: Error(rules.code) naming source, line, column, and what is wrong. Never
/// recurses on the input's nesting.
Json parse_json(std::string_view text, const JsonRules& rules);

/// `value` on one line, characters beyond ASCII as \u escapes; NaN and infinity become null, which JSON has no numbers
/// for.
std::string to_json_line(const Json& value);

/// Untrusted text as it may stand in a message: a JSON string on one line, cut after 80 bytes.
std::string shown(std::string_view text);

}  // namespace chargpt
