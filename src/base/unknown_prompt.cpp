#include "chargpt/base/unknown_prompt.hpp"

#include "chargpt/base/error.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {

UnknownPrompt parse_unknown_prompt(const std::string& text) {
  constexpr std::string_view kReplace = "replace=";
  if (text == "error") return {UnknownPrompt::Rule::error};
  if (text == "skip") return {UnknownPrompt::Rule::skip};
  if (text.starts_with(kReplace)) {
    const std::u32string with = decode_utf8(text.substr(kReplace.size()), "sample.unknown");
    if (with.size() == 1) return {UnknownPrompt::Rule::replace, with[0]};
  }
  throw Error(ExitCode::usage,
              "sample.unknown: got " + shown(text) + ", wanted error, skip, or replace=X with one character X");
}

}  // namespace chargpt
