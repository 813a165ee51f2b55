#include "chargpt/sampling/sample_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chargpt/base/json.hpp"

namespace chargpt {
namespace {

/// Passes text on as it is generated: character by character, or line by line and a long line in pieces.
class TextStream {
 public:
  explicit TextStream(const SampleOutput& output) : output_(output) {}

  void put(std::string_view text) {
    pending_ += text;
    const bool line = text.find('\n') != std::string_view::npos;
    if (output_.each_character || line || pending_.size() >= kPiece) flush();
  }
  void flush() {
    if (open_ && !pending_.empty()) open_ = output_.write(pending_);
    pending_.clear();
  }
  bool open() const { return open_; }

 private:
  static constexpr std::size_t kPiece = 1 << 16;

  const SampleOutput& output_;
  std::string pending_;
  bool open_ = true;
};

std::string json_line(const Tokenizer& tokenizer, const StreamStart& start, const std::string& text,
                      const Generated& generated) {
  const auto characters = static_cast<double>(generated.length);
  Json line;
  line["v"] = 1;
  line["text"] = tokenizer.as_utf8(text);
  line["prompt"] = tokenizer.as_utf8(start.settings.prompt);
  line["seed"] = start.settings.seed;
  line["finish"] = name(generated.finish);
  line["characters"] = generated.length;
  line["log_probability"] = generated.length == 0 ? Json(nullptr) : Json(generated.log_probability / characters);
  return to_json_line(line) + "\n";
}

/// Some samples that are drawn together.
class Batch {
 public:
  Batch(const SampledModel& model, std::int64_t size, const SampleOutput& output, TextStream& out)
      : model_(model), size_(size), output_(output), out_(out) {}

  /// Sample `number` (from 0) of a request that begins like `start`.
  void add(const StreamStart& start, std::int64_t number) {
    starts_.push_back(start);
    starts_.back().settings.seed += number;
    numbers_.push_back(number);
  }
  bool full() const { return static_cast<std::int64_t>(starts_.size()) == size_; }

  /// Draws the samples, writes them, and is empty.
  void draw() {
    texts_.assign(starts_.size(), "");
    if (!output_.json && !starts_.empty()) begin(0);
    const auto results = generate(model_.next, model_.tokenizer, model_.context, starts_,
                                  [&](std::size_t i, std::int32_t id) { return take(i, id); });
    for (std::size_t i = 0; i < results.size() && out_.open(); ++i) {
      if (output_.json) {
        out_.put(json_line(model_.tokenizer, starts_[i], texts_[i], results[i]));
      } else {
        if (i > 0) begin(i);
        out_.put(texts_[i]);
        out_.put("\n");
      }
    }
    out_.flush();
    starts_.clear();
    numbers_.clear();
  }

 private:
  /// The first sample of a batch is written as it comes, the others wait for it.
  bool take(std::size_t i, std::int32_t id) {
    const std::string_view symbol = model_.tokenizer.symbol(id);
    if (i == 0 && !output_.json) {
      out_.put(symbol);
    } else {
      texts_[i] += symbol;
    }
    return out_.open() && !output_.stopped();
  }

  void begin(std::size_t i) {
    const SampleConfig& settings = starts_[i].settings;
    if (settings.samples > 1) out_.put(fmt::format("{}--- seed {} ---\n", numbers_[i] == 0 ? "" : "\n", settings.seed));
    if (output_.prompt) out_.put(settings.prompt);
  }

  const SampledModel& model_;
  std::int64_t size_;
  const SampleOutput& output_;
  TextStream& out_;
  std::vector<StreamStart> starts_;
  std::vector<std::int64_t> numbers_;  // of each within its request
  std::vector<std::string> texts_;
};

/// Samples of a batch, so that the batches are as few as can be, and none larger than that takes.
std::int64_t batch_size(const std::vector<SampleRequest>& requests, std::int64_t most) {
  std::int64_t samples = 0;
  for (const SampleRequest& request : requests) samples += request.settings.samples;
  const std::int64_t batches = std::max<std::int64_t>((samples + most - 1) / most, 1);
  return (samples + batches - 1) / batches;
}

}  // namespace

void write_samples(const SampledModel& model, const std::vector<SampleRequest>& requests, const SampleOutput& output) {
  std::vector<StreamStart> starts;
  starts.reserve(requests.size());
  for (const SampleRequest& request : requests) {
    starts.push_back(
        start_stream(request.settings, model.tokenizer, model.context, request.source, output.warn, model.marked));
  }
  TextStream out(output);
  Batch batch(model, batch_size(requests, model.together), output, out);
  for (const StreamStart& start : starts) {
    for (std::int64_t number = 0; number < start.settings.samples; ++number) {
      batch.add(start, number);
      if (batch.full()) batch.draw();
      if (!out.open() || output.stopped()) return;
    }
  }
  batch.draw();
}

}  // namespace chargpt
