#pragma once

#include <string>

namespace chargpt {

/// What happens to a character of a prompt that the model does not know.
struct UnknownPrompt {
  enum class Rule { error, skip, replace };
  Rule rule = Rule::error;
  char32_t replacement = 0;  ///< with Rule::replace
};

/// "error", "skip", or "replace=X" with one character X. Error(usage) for anything else.
UnknownPrompt parse_unknown_prompt(const std::string& text);

}  // namespace chargpt
