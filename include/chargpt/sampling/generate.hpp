#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// Logits of the position after `ids` (1 to context of them), written to `logits` (vocabulary size).
using NextLogits = std::function<void(std::span<const std::int32_t> ids, std::span<double> logits)>;

enum class Finish { length, end_mark, stopped };
std::string_view name(Finish value);

struct Generated {
  std::vector<std::int32_t> ids;  ///< without the prompt and without the end mark
  Finish finish = Finish::length;
};

/// What an empty prompt starts from: the end mark, else a newline, else id 0.
std::int32_t start_id(const Tokenizer& tokenizer);

/// Ids of a prompt in UTF-8, or the start id for an empty one. Error(bad_data) for invalid UTF-8 and characters that
/// the model does not know; `source` names the prompt.
std::vector<std::int32_t> encode_prompt(std::string_view prompt, const Tokenizer& tokenizer, const std::string& source);

/// Generates up to settings.length ids after `prompt` (not empty; its last `context` ids are seen), and ends before
/// them at an end mark. Each id is passed to `emit` as it comes; a false return stops. The text is a function of
/// (model, prompt, settings, seed) alone. Error(unusable_model) when a logit is not finite.
Generated generate(const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context,
                   std::vector<std::int32_t> prompt, const SampleConfig& settings, std::uint64_t seed,
                   const std::function<bool(std::int32_t)>& emit);

}  // namespace chargpt
