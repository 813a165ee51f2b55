#include "chargpt/sampling/sample_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "chargpt/base/json.hpp"
#include "sampling/support.hpp"

namespace chargpt {
namespace {

const Tokenizer kLetters({U'a', U'b', U'ö', U'\n'}, false);  // ids: newline 0, a 1, b 2, ö 3

struct Sink {
  std::vector<std::string> pieces;
  SampleOutput output;

  explicit Sink(bool json = false) {
    output.write = [this](std::string_view text) {
      pieces.emplace_back(text);
      return true;
    };
    output.stopped = [] { return false; };
    output.warn = [](const std::string&) {};
    output.json = json;
  }
  std::string text() const {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
  }
};

SampleRequest request(const std::string& prompt, std::int64_t length, std::int64_t samples = 1, std::int64_t seed = 1) {
  SampleRequest request{{}, "--prompt"};
  request.settings.prompt = prompt;
  request.settings.length = length;
  request.settings.samples = samples;
  request.settings.seed = seed;
  return request;
}

SampledModel model(const NextLogits& next, std::int64_t together = 64) { return {kLetters, 4, next, together}; }

TEST(SampleWriter, PassesWholeCharactersOnLineByLineOrOneByOne) {
  Sink lines;
  write_samples(model(count_up), {request("a", 6)}, lines.output);
  EXPECT_EQ(lines.pieces, (std::vector<std::string>{"abö\n", "abö\n"}));
  Sink characters;
  characters.output.each_character = true;
  write_samples(model(count_up), {request("a", 3)}, characters.output);
  EXPECT_EQ(characters.pieces, (std::vector<std::string>{"a", "b", "ö", "\n", "\n"}));
}

TEST(SampleWriter, PutsTheEndMarkBeforeAPromptThatBeginsADocument) {
  const Tokenizer tokenizer({U'a', U'b'}, true);
  std::vector<std::int32_t> seen;
  const NextLogits note = [&](std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
    seen.assign(windows[0].ids.begin(), windows[0].ids.end());
    flat(windows, logits, ready);
  };
  for (const bool marked : {false, true}) {
    Sink sink;
    write_samples({tokenizer, 4, note, 64, marked}, {request("ab", 1)}, sink.output);
    EXPECT_EQ(seen, marked ? (std::vector<std::int32_t>{0, 1, 2}) : (std::vector<std::int32_t>{1, 2}));
    EXPECT_TRUE(sink.text().starts_with("ab")) << sink.text();
  }
}

TEST(SampleWriter, ALongLineIsPassedOnInPieces) {
  Sink sink;
  SampleRequest long_line = request("a", 200000);
  long_line.settings.ban = "\n";
  write_samples(model(flat), {long_line}, sink.output);
  EXPECT_GT(sink.pieces.size(), 3U);
  EXPECT_LT(sink.pieces[0].size(), 70000U);
}

TEST(SampleWriter, StopsWhenNobodyReadsAnyMore) {
  Sink sink;
  int left = 2;
  sink.output.write = [&](std::string_view) { return --left > 0; };
  write_samples(model(count_up), {request("a", 1'000'000'000, 50)}, sink.output);
  EXPECT_EQ(left, 0);
}

std::vector<Json> json_lines(const std::vector<SampleRequest>& requests, std::int64_t together,
                             const NextLogits& next = flat) {
  Sink sink(true);
  write_samples(model(next, together), requests, sink.output);
  std::vector<Json> lines;
  for (const std::string& piece : sink.pieces) {
    for (std::size_t begin = 0; begin < piece.size(); begin = piece.find('\n', begin) + 1) {
      lines.push_back(parse_json(piece.substr(begin, piece.find('\n', begin) - begin), {.source = "line"}));
    }
  }
  return lines;
}

TEST(SampleWriter, ALineOfJsonSaysWhatItIs) {
  SampleRequest stopped = request("ab", 9);
  stopped.settings.stop = {"\na"};
  const auto lines = json_lines({stopped, request("ö", 2)}, 64, count_up);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["v"], 1);
  EXPECT_EQ(lines[0]["text"], "ö");
  EXPECT_EQ(lines[0]["prompt"], "ab");
  EXPECT_EQ(lines[0]["finish"], "stop");
  EXPECT_EQ(lines[0]["characters"], 1);
  EXPECT_EQ(lines[1]["text"], "\na");
  EXPECT_EQ(lines[1]["finish"], "length");
}

TEST(SampleWriter, TheLogProbabilityIsTheMeanOverTheCharacters) {
  const auto lines = json_lines({request("a", 7)}, 1);
  EXPECT_NEAR(lines[0]["log_probability"].get<double>(), -std::log(4.0), 1e-12);
  SampleRequest nothing = request("a", 7);
  nothing.settings.stop = {"b"};
  EXPECT_TRUE(json_lines({nothing}, 1, count_up)[0]["log_probability"].is_null());
}

TEST(SampleWriter, ASampleDependsOnItsPromptSettingsAndSeedAlone) {
  SampleRequest hot = request("bö", 20, 2, 40);
  hot.settings.temperature = 3.0;
  const std::vector<SampleRequest> requests = {request("a", 30, 5, 7), hot, request("", 10, 1, 3)};
  std::vector<Json> alone;
  for (const SampleRequest& all : requests) {
    for (std::int64_t i = 0; i < all.settings.samples; ++i) {
      SampleRequest one = all;
      one.settings.samples = 1;
      one.settings.seed += i;
      alone.push_back(json_lines({one}, 1).at(0));
    }
  }
  for (const std::int64_t together : {1, 2, 3, 64}) EXPECT_EQ(json_lines(requests, together), alone) << together;
}

TEST(SampleWriter, BatchesAreFewAndOfAboutTheSameSize) {
  std::vector<std::size_t> sizes;
  const NextLogits note = [&](std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
    sizes.push_back(windows.size());
    flat(windows, logits, ready);
  };
  json_lines({request("a", 1, 30), request("b", 1, 34)}, 18, note);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{16, 16, 16, 16}));
  sizes.clear();
  json_lines({request("a", 1, 18)}, 18, note);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{18}));
  sizes.clear();
  json_lines({request("a", 1, 7)}, 3, note);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 1}));
}

TEST(SampleWriter, NothingIsWrittenBeforeEveryPromptIsKnownToBeSound) {
  Sink sink(true);
  EXPECT_THROW(write_samples(model(flat), {request("a", 5), request("q", 5)}, sink.output), Error);
  EXPECT_TRUE(sink.pieces.empty());
}

TEST(SampleWriter, SeveralSamplesHaveTheirSeedsAbove) {
  Sink sink;
  write_samples(model(count_up), {request("a", 2, 2, 8)}, sink.output);
  EXPECT_EQ(sink.text(), "--- seed 8 ---\nabö\n\n--- seed 9 ---\nabö\n");
}

}  // namespace
}  // namespace chargpt
