#include "chargpt/sampling/generate.hpp"

#include <algorithm>
#include <cmath>

#include "chargpt/base/error.hpp"
#include "chargpt/base/random.hpp"
#include "chargpt/base/utf8.hpp"
#include "chargpt/sampling/filters.hpp"

namespace chargpt {

std::string_view name(Finish value) {
  switch (value) {
    case Finish::length:
      return "length";
    case Finish::end_mark:
      return "end_mark";
    case Finish::stopped:
      return "stopped";
  }
  return {};
}

std::int32_t start_id(const Tokenizer& tokenizer) {
  if (tokenizer.has_end_mark()) return Tokenizer::end_mark_id();
  return std::max(0, tokenizer.id(U'\n'));
}

std::vector<std::int32_t> encode_prompt(std::string_view prompt, const Tokenizer& tokenizer,
                                        const std::string& source) {
  if (prompt.empty()) return {start_id(tokenizer)};
  return tokenizer.encode(decode_utf8(prompt, source), source);
}

Generated generate(const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context,
                   std::vector<std::int32_t> prompt, const SampleConfig& settings, std::uint64_t seed,
                   const std::function<bool(std::int32_t)>& emit) {
  Generated result;
  std::vector<std::int32_t>& window = prompt;  // what the model sees: at most `context` ids
  const auto limit = static_cast<std::size_t>(context);
  if (window.size() > limit) window.erase(window.begin(), window.end() - context);
  std::vector<double> logits(static_cast<std::size_t>(tokenizer.size()));
  for (std::int64_t i = 0; i < settings.length; ++i) {
    next(window, logits);
    if (!std::all_of(logits.begin(), logits.end(), [](double x) { return std::isfinite(x); })) {
      throw Error(ExitCode::unusable_model, "the model gives a logit that is not finite: its weights are unusable");
    }
    next_probabilities(logits, settings);
    const std::int32_t id = pick(logits, random_unit(seed, Purpose::sampling, 0, static_cast<std::uint64_t>(i)));
    if (tokenizer.has_end_mark() && id == Tokenizer::end_mark_id()) {
      result.finish = Finish::end_mark;
      return result;
    }
    result.ids.push_back(id);
    if (!emit(id)) {
      result.finish = Finish::stopped;
      return result;
    }
    if (window.size() == limit) window.erase(window.begin());
    window.push_back(id);
  }
  return result;
}

}  // namespace chargpt
