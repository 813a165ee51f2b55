#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/stream_window.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// Logits of the position after each of one or more windows, written to `logits` (windows, vocabulary).
using NextLogits = std::function<void(std::span<const StreamWindow> windows, std::span<float> logits)>;

enum class Finish { length, end_mark, stopped };
std::string_view name(Finish value);

/// What a stream begins with.
struct StreamStart {
  std::vector<std::int32_t> prompt;  ///< not empty; its last `context` ids are seen
  std::uint64_t seed;
};

/// How a stream ended.
struct Generated {
  Finish finish = Finish::length;
  std::int64_t length = 0;  ///< ids, without the prompt and without the end mark
  double log_probability =
      0.0;  ///< of those ids in the model's own distribution, without temperature and filters: nats
};

/// What an empty prompt starts from: the end mark, else a newline, else id 0.
std::int32_t start_id(const Tokenizer& tokenizer);

/// Ids of a prompt in UTF-8, or the start id for an empty one. Error(bad_data) for invalid UTF-8 and characters that
/// the model does not know; `source` names the prompt.
std::vector<std::int32_t> encode_prompt(std::string_view prompt, const Tokenizer& tokenizer, const std::string& source);

/// Continues all streams together, each by up to settings.length ids, and ends one before them at an end mark. Each id
/// is passed to `emit` as it comes; a false return ends its stream. A stream is a function of (model, prompt, settings,
/// seed) alone, not of the others. A window that has reached `context` ids loses its first half, and with
/// settings.exact its first id, before it gets the next. Error(unusable_model) when a logit is not finite.
std::vector<Generated> generate(const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context,
                                const std::vector<StreamStart>& starts, const SampleConfig& settings,
                                const std::function<bool(std::size_t stream, std::int32_t id)>& emit);

}  // namespace chargpt
