#include "chargpt/sampling/generate.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "chargpt/base/error.hpp"
#include "chargpt/base/random.hpp"
#include "chargpt/sampling/filters.hpp"
#include "chargpt/sampling/recent_ids.hpp"
#include "chargpt/sampling/stop_texts.hpp"

namespace chargpt {

std::string_view name(Finish value) {
  switch (value) {
    case Finish::length:
      return "length";
    case Finish::end_mark:
      return "end_mark";
    case Finish::stop:
      return "stop";
    case Finish::interrupted:
      return "interrupted";
  }
  return {};
}

namespace {

/// Characters that a model does not know get an id that it never draws.
StopTexts encode_stops(const SampleConfig& settings, const Tokenizer& tokenizer) {
  std::vector<std::vector<std::int32_t>> texts;
  for (const std::string& stop : settings.stop) {
    auto& ids = texts.emplace_back();
    for (const char32_t character : tokenizer.characters(stop, "sample.stop")) ids.push_back(tokenizer.id(character));
  }
  return StopTexts(texts);
}

/// One stream on its way.
class Stream {
 public:
  using Emit = std::function<bool(std::int32_t)>;

  Stream(const StreamStart& start, std::size_t context, const Tokenizer& tokenizer)
      : context_(context),
        tokenizer_(tokenizer),
        settings_(start.settings),
        allowed_(allowed_ids(settings_, tokenizer)),
        stops_(encode_stops(settings_, tokenizer)) {
    const auto seen = static_cast<std::ptrdiff_t>(std::min(start.prompt.size(), context));
    window_.assign(start.prompt.end() - seen, start.prompt.end());
    if (has_penalties(settings_)) {
      recent_.emplace(static_cast<std::size_t>(settings_.penalty_window), static_cast<std::size_t>(tokenizer.size()));
      for (const std::int32_t id : window_) note(id);
    }
    done_ = settings_.length == 0;
  }

  bool done() const { return done_; }
  std::span<const std::int32_t> window() const { return window_; }
  const Generated& result() const { return result_; }

  /// Draws the next id. Of all functions only this one may run for several streams at once.
  void draw(std::span<const float> logits) {
    if (!std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); })) {
      throw Error(ExitCode::unusable_model, "the model gives a logit that is not finite: its weights are unusable");
    }
    probabilities_.assign(logits.begin(), logits.end());
    if (tokenizer_.has_unknown_mark()) {
      const auto mark = static_cast<std::size_t>(tokenizer_.unknown_mark_id());
      probabilities_[mark] = -std::numeric_limits<double>::infinity();
    }
    next_probabilities(probabilities_, settings_, allowed_,
                       recent_ ? recent_->counts() : std::span<const std::int32_t>());
    const auto seed = static_cast<std::uint64_t>(settings_.seed);
    const std::int32_t id = pick(probabilities_, random_unit(seed, Purpose::sampling, 0, draws_++));
    drawn_ = {id, log_probability(logits, id)};
  }

  /// Goes on by the id that was drawn.
  void advance(const Emit& emit) {
    const std::int32_t id = drawn_.id;
    if (is_end_mark(id)) return finish(Finish::end_mark, emit);
    held_.push_back(drawn_);
    if (stops_.ends_with(id)) {
      held_.resize(held_.size() - stops_.held());
      return finish(Finish::stop, emit);
    }
    if (!release(stops_.held(), emit)) return;
    const bool last = !settings_.until_end_mark && draws_ == static_cast<std::uint64_t>(settings_.length);
    if (last) return finish(Finish::length, emit);
    push(id);
  }

 private:
  struct Drawn {
    std::int32_t id = 0;
    double log_probability = 0.0;
  };

  bool is_end_mark(std::int32_t id) const { return tokenizer_.has_end_mark() && id == Tokenizer::end_mark_id(); }

  /// Passes on all but the last `kept` ids. False when the receiver had enough.
  bool release(std::size_t kept, const Emit& emit) {
    for (; held_.size() > kept; held_.pop_front()) {
      ++result_.length;
      result_.log_probability += held_.front().log_probability;
      if (emit(held_.front().id)) continue;
      result_.finish = Finish::interrupted;
      done_ = true;
      return false;
    }
    return true;
  }

  void finish(Finish finish, const Emit& emit) {
    if (!release(0, emit)) return;
    result_.finish = finish;
    done_ = true;
  }

  /// The end mark that stands before a prompt is no character, and repeats nothing.
  void note(std::int32_t id) {
    if (recent_ && !is_end_mark(id)) recent_->push(id);
  }

  void push(std::int32_t id) {
    note(id);
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
  std::vector<bool> allowed_;
  StopTexts stops_;
  std::optional<RecentIds> recent_;  // where a penalty asks for it
  std::vector<std::int32_t> window_;
  std::deque<Drawn> held_;  // not passed on yet
  std::vector<double> probabilities_;
  std::uint64_t draws_ = 0;
  Drawn drawn_;
  Generated result_;
  bool done_ = false;
};

}  // namespace

std::vector<Generated> generate(const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context,
                                const std::vector<StreamStart>& starts,
                                const std::function<bool(std::size_t stream, std::int32_t id)>& emit) {
  std::vector<Stream> streams;
  streams.reserve(starts.size());
  for (const StreamStart& start : starts) streams.emplace_back(start, static_cast<std::size_t>(context), tokenizer);
  const auto V = static_cast<std::size_t>(tokenizer.size());
  std::vector<StreamWindow> windows;
  std::vector<float> logits;
  for (;;) {
    windows.clear();
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (!streams[i].done()) windows.push_back({i, streams[i].window()});
    }
    if (windows.empty()) break;
    logits.resize(windows.size() * V);
    next(windows, logits, [&](std::size_t row) { streams[windows[row].stream].draw({logits.data() + row * V, V}); });
    for (const StreamWindow& window : windows) {
      streams[window.stream].advance([&](std::int32_t id) { return emit(window.stream, id); });
    }
  }
  std::vector<Generated> results;
  results.reserve(streams.size());
  for (const Stream& stream : streams) results.push_back(stream.result());
  return results;
}

}  // namespace chargpt
