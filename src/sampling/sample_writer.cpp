#include "chargpt/sampling/sample_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chargpt/base/json.hpp"

namespace chargpt {
namespace {

/// Passes text on as it is generated: character by character or line by line.
class TextStream {
 public:
  explicit TextStream(const SampleOutput& output) : output_(output) {}

  void put(std::string_view text) {
    pending_ += text;
    if (output_.each_character || text.find('\n') != std::string_view::npos) flush();
  }
  void flush() {
    if (open_ && !pending_.empty()) open_ = output_.write(pending_);
    pending_.clear();
  }
  bool open() const { return open_; }

 private:
  const SampleOutput& output_;
  std::string pending_;
  bool open_ = true;
};

/// Some samples that are drawn together.
class Batch {
 public:
  Batch(const SampledModel& model, const SampleConfig& settings, const SampleOutput& output, TextStream& out,
        std::int64_t first, std::int64_t count)
      : model_(model), settings_(settings), output_(output), out_(out), first_(first), texts_(index(count)) {}

  void draw(const std::vector<std::int32_t>& prompt) {
    std::vector<StreamStart> starts;
    for (std::size_t i = 0; i < texts_.size(); ++i) starts.push_back({prompt, seed(i)});
    if (!output_.json) begin(0);
    const auto results = generate(model_.next, model_.tokenizer, model_.context, starts, settings_,
                                  [&](std::size_t i, std::int32_t id) { return take(i, id); });
    for (std::size_t i = 0; i < texts_.size() && out_.open(); ++i) {
      if (output_.json) {
        out_.put(json_line(i, results[i]));
      } else {
        if (i > 0) begin(i);
        end(i);
      }
    }
  }

 private:
  static std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }
  std::uint64_t seed(std::size_t i) const {
    return static_cast<std::uint64_t>(settings_.seed) + static_cast<std::uint64_t>(first_) + i;
  }

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
    if (settings_.samples > 1) {
      out_.put(fmt::format("{}--- seed {} ---\n", first_ + static_cast<std::int64_t>(i) == 0 ? "" : "\n", seed(i)));
    }
    out_.put(settings_.prompt);
  }

  void end(std::size_t i) {
    out_.put(texts_[i]);
    out_.put("\n");
  }

  std::string json_line(std::size_t i, const Generated& generated) const {
    Json line;
    line["text"] = model_.tokenizer.as_utf8(texts_[i]);
    line["prompt"] = model_.tokenizer.as_utf8(settings_.prompt);
    line["seed"] = seed(i);
    line["finish"] = name(generated.finish);
    line["log_probability"] = generated.log_probability;
    return to_json_line(line) + "\n";
  }

  const SampledModel& model_;
  const SampleConfig& settings_;
  const SampleOutput& output_;
  TextStream& out_;
  std::int64_t first_;
  std::vector<std::string> texts_;
};

}  // namespace

void write_samples(const SampledModel& model, const std::vector<std::int32_t>& prompt, const SampleConfig& settings,
                   const SampleOutput& output) {
  TextStream out(output);
  for (std::int64_t first = 0; first < settings.samples && out.open() && !output.stopped(); first += model.together) {
    Batch(model, settings, output, out, first, std::min(model.together, settings.samples - first)).draw(prompt);
    out.flush();
  }
}

}  // namespace chargpt
