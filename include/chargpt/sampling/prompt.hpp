#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// Told, as one line, what a user should know and may have missed.
using Warn = std::function<void(const std::string&)>;

/// What a stream begins with, and how it goes on.
struct StreamStart {
  std::vector<std::int32_t> prompt;  ///< not empty; its last `context` ids are seen
  SampleConfig settings;             ///< its prompt and number of samples do not count
};

/// What an empty prompt starts from: the end mark, else a newline, else id 0.
std::int32_t start_id(const Tokenizer& tokenizer);

/// Ids of a prompt in UTF-8, or the start id for an empty one. Error(bad_data) for invalid UTF-8 and characters that
/// the model does not know, with their position and what they may be instead; `source` names the prompt.
std::vector<std::int32_t> encode_prompt(std::string_view prompt, const Tokenizer& tokenizer, const std::string& source);

/// The same by the rule settings.unknown, for settings.prompt. Warns of characters that are skipped or replaced, of a
/// prompt longer than the context, and of characters to ban, allow or stop at that the model never writes. marked: the
/// end mark, where there is one, stands before the prompt, which the model thus takes for a document's beginning.
/// Error(usage) when it could not write anything, or never end.
StreamStart start_stream(const SampleConfig& settings, const Tokenizer& tokenizer, std::int64_t context,
                         const std::string& source, const Warn& warn, bool marked = false);

/// By id, whether sample.ban and sample.allow permit it; the end mark always. Empty when both are empty.
std::vector<bool> allowed_ids(const SampleConfig& settings, const Tokenizer& tokenizer);

}  // namespace chargpt
