#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "chargpt/base/stream_window.hpp"
#include "chargpt/base/tokenizer.hpp"
#include "chargpt/sampling/prompt.hpp"

namespace chargpt {

/// Logits of the position after each of one or more windows, written to `logits` (windows, vocabulary). As soon as a
/// row is complete, ready(row) is called for it, perhaps from several threads at once; what it throws is thrown on.
using NextLogits =
    std::function<void(std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready)>;

/// Why a stream ended: settings.length was reached, the model wrote the end mark, or a text of settings.stop; or
/// whoever receives it had enough.
enum class Finish { length, end_mark, stop, interrupted };
std::string_view name(Finish value);

/// How a stream ended.
struct Generated {
  Finish finish = Finish::length;
  std::int64_t length = 0;  ///< ids that were passed on: without the prompt, the end mark and the text it stopped at
  double log_probability =
      0.0;  ///< of those ids in the model's own distribution, without temperature and filters: nats, their sum
};

/// Continues all streams together, each by up to settings.length ids. An end mark or a text of settings.stop ends a
/// stream and is not passed on; no part of the prompt counts towards such a text. Of several texts the one that is
/// complete first ends the stream, and of those complete at once the longest. Each id is passed to `emit` as soon as no
/// text to stop at can begin with it; a false return ends its stream. A stream is a function of (model, prompt,
/// settings) alone, not of the others. A window that has reached `context` ids loses its first half, and with
/// settings.exact its first id, before it gets the next. Error(unusable_model) when a logit is not finite.
std::vector<Generated> generate(const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context,
                                const std::vector<StreamStart>& starts,
                                const std::function<bool(std::size_t stream, std::int32_t id)>& emit);

}  // namespace chargpt
