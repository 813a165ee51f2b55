#include "chargpt/sampling/generate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chargpt/base/error.hpp"
#include "chargpt/base/random.hpp"
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
  return tokenizer.encode(tokenizer.characters(prompt, source), source);
}

namespace {

/// One stream on its way.
class Stream {
 public:
  Stream(const StreamStart& start, std::size_t context, const Tokenizer& tokenizer, const SampleConfig& settings)
      : context_(context), tokenizer_(tokenizer), settings_(settings), seed_(start.seed) {
    const auto seen = static_cast<std::ptrdiff_t>(std::min(start.prompt.size(), context));
    window_.assign(start.prompt.end() - seen, start.prompt.end());
    done_ = settings.length == 0;
  }

  bool done() const { return done_; }
  std::span<const std::int32_t> window() const { return window_; }
  const Generated& result() const { return result_; }

  /// Draws the next id. `probabilities`: memory for as many numbers.
  template <class Emit>
  void draw(std::span<const float> logits, std::vector<double>& probabilities, const Emit& emit) {
    probabilities.assign(logits.begin(), logits.end());
    if (tokenizer_.has_unknown_mark()) {
      const auto mark = static_cast<std::size_t>(tokenizer_.unknown_mark_id());
      probabilities[mark] = -std::numeric_limits<double>::infinity();
    }
    next_probabilities(probabilities, settings_);
    const auto place = static_cast<std::uint64_t>(result_.length);
    const std::int32_t id = pick(probabilities, random_unit(seed_, Purpose::sampling, 0, place));
    if (tokenizer_.has_end_mark() && id == Tokenizer::end_mark_id()) return finish(Finish::end_mark);
    ++result_.length;
    result_.log_probability += log_probability(logits, id);
    if (!emit(id)) return finish(Finish::stopped);
    if (result_.length == settings_.length) return finish(Finish::length);
    push(id);
  }

 private:
  void finish(Finish finish) {
    result_.finish = finish;
    done_ = true;
  }

  void push(std::int32_t id) {
    if (window_.size() == context_) {
      const std::size_t gone = settings_.exact ? 1 : context_ - context_ / 2;
      window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    window_.push_back(id);
  }

  static double log_probability(std::span<const float> logits, std::int32_t id) {
    const auto largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
    double sum = 0.0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
    return static_cast<double>(logits[static_cast<std::size_t>(id)]) - largest - std::log(sum);
  }

  std::size_t context_;
  const Tokenizer& tokenizer_;
  const SampleConfig& settings_;
  std::uint64_t seed_;
  std::vector<std::int32_t> window_;
  Generated result_;
  bool done_ = false;
};

}  // namespace

std::vector<Generated> generate(const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context,
                                const std::vector<StreamStart>& starts, const SampleConfig& settings,
                                const std::function<bool(std::size_t stream, std::int32_t id)>& emit) {
  std::vector<Stream> streams;
  streams.reserve(starts.size());
  for (const StreamStart& start : starts) {
    streams.emplace_back(start, static_cast<std::size_t>(context), tokenizer, settings);
  }
  const auto V = static_cast<std::size_t>(tokenizer.size());
  std::vector<double> probabilities;
  std::vector<StreamWindow> windows;
  std::vector<float> logits;
  for (;;) {
    windows.clear();
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (!streams[i].done()) windows.push_back({i, streams[i].window()});
    }
    if (windows.empty()) break;
    logits.resize(windows.size() * V);
    next(windows, logits);
    if (!std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); })) {
      throw Error(ExitCode::unusable_model, "the model gives a logit that is not finite: its weights are unusable");
    }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::size_t stream = windows[i].stream;
      streams[stream].draw({logits.data() + i * V, V}, probabilities,
                           [&](std::int32_t id) { return emit(stream, id); });
    }
  }
  std::vector<Generated> results;
  results.reserve(streams.size());
  for (const Stream& stream : streams) results.push_back(stream.result());
  return results;
}

}  // namespace chargpt
