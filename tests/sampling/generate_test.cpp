#include "chargpt/sampling/generate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

using Ids = std::vector<std::int32_t>;

const Tokenizer kLetters({U'a', U'b', U'c', U'd'}, false);
const Tokenizer kDocuments({U'a', U'b', U'c'}, true);

/// A model that is sure that the id after n is n + 1, in a circle.
void count_up(std::span<const StreamWindow> windows, std::span<float> logits) {
  std::fill(logits.begin(), logits.end(), 0.0F);
  const std::size_t V = logits.size() / windows.size();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    logits[i * V + static_cast<std::size_t>(windows[i].ids.back() + 1) % V] = 50.0F;
  }
}

/// A model that knows nothing.
void flat(std::span<const StreamWindow>, std::span<float> logits) { std::fill(logits.begin(), logits.end(), 0.0F); }

struct Written {
  Ids ids;
  Finish finish;
};

/// One stream alone.
Written write(
    const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context, const Ids& prompt,
    const SampleConfig& config, std::uint64_t seed,
    const std::function<bool(std::int32_t)>& more = [](std::int32_t) { return true; }) {
  Written written;
  const auto results = generate(next, tokenizer, context, {{prompt, seed}}, config, [&](std::size_t, std::int32_t id) {
    written.ids.push_back(id);
    return more(id);
  });
  written.finish = results.at(0).finish;
  EXPECT_EQ(results.at(0).length, static_cast<std::int64_t>(written.ids.size()));
  return written;
}

SampleConfig settings(std::int64_t length, double temperature = 1.0) {
  SampleConfig config;
  config.length = length;
  config.temperature = temperature;
  return config;
}

TEST(Generate, FollowsTheModelForTheLengthAskedFor) {
  const Written got = write(count_up, kLetters, 8, {1}, settings(6), 1);
  EXPECT_EQ(got.ids, (Ids{2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(got.finish, Finish::length);
}

TEST(Generate, StopsBeforeTheEndMark) {
  const Written got = write(count_up, kDocuments, 8, {1}, settings(6), 1);
  EXPECT_EQ(got.ids, (Ids{2, 3}));
  EXPECT_EQ(got.finish, Finish::end_mark);
}

TEST(Generate, StopsWhenTheReceiverHasEnough) {
  int left = 2;
  const Written got = write(count_up, kLetters, 8, {1}, settings(6), 1, [&](std::int32_t) { return --left > 0; });
  EXPECT_EQ(got.finish, Finish::stopped);
  EXPECT_EQ(got.ids, (Ids{2, 3}));
}

TEST(Generate, OfLengthNothingIsNothing) { EXPECT_TRUE(write(count_up, kLetters, 8, {1}, settings(0), 1).ids.empty()); }

/// What the model is shown while a prompt is continued.
std::vector<Ids> shown(std::int64_t context, const Ids& prompt, std::int64_t length, bool exact) {
  std::vector<Ids> seen;
  const NextLogits spy = [&](std::span<const StreamWindow> windows, std::span<float> logits) {
    seen.emplace_back(windows[0].ids.begin(), windows[0].ids.end());
    count_up(windows, logits);
  };
  SampleConfig config = settings(length);
  config.exact = exact;
  write(spy, kLetters, context, prompt, config, 1);
  return seen;
}

TEST(Generate, AFullWindowLosesItsFirstHalfOrExactlyOneId) {
  EXPECT_EQ(shown(4, {2, 3, 0, 1}, 4, false), (std::vector<Ids>{{2, 3, 0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {2, 3, 0}}));
  EXPECT_EQ(shown(4, {2, 3, 0, 1}, 3, true), (std::vector<Ids>{{2, 3, 0, 1}, {3, 0, 1, 2}, {0, 1, 2, 3}}));
  EXPECT_EQ(shown(1, {2}, 3, false), (std::vector<Ids>{{2}, {3}, {0}}));
}

TEST(Generate, ShowsTheModelTheLastContextIdsOfAPrompt) {
  EXPECT_EQ(shown(3, {3, 2, 1, 0}, 1, false), (std::vector<Ids>{{2, 1, 0}}));
}

TEST(Generate, TheSeedAloneDecidesAmongEquals) {
  const Ids first = write(flat, kLetters, 8, {0}, settings(100), 7).ids;
  EXPECT_EQ(first, write(flat, kLetters, 8, {0}, settings(100), 7).ids);
  EXPECT_NE(first, write(flat, kLetters, 8, {0}, settings(100), 8).ids);
}

TEST(Generate, AStreamIsTheSameAloneAndAmongOthersThatEndEarlier) {
  const std::vector<StreamStart> starts = {{{1}, 1}, {{2, 0}, 2}, {{1, 1, 1}, 3}, {{3}, 4}};
  std::vector<Ids> together(starts.size());
  generate(flat, kDocuments, 4, starts, settings(30), [&](std::size_t stream, std::int32_t id) {
    together[stream].push_back(id);
    return stream != 1 || together[stream].size() < 3;
  });
  for (const std::size_t stream : {0, 2, 3}) {
    EXPECT_EQ(together[stream],
              write(flat, kDocuments, 4, starts[stream].prompt, settings(30), starts[stream].seed).ids);
  }
}

TEST(Generate, TheLogProbabilityIsTheModelsOwnWhateverTheFilters) {
  SampleConfig greedy = settings(5, 0.0);
  const auto results = generate(flat, kLetters, 8, {{{0}, 1}}, greedy, [](std::size_t, std::int32_t) { return true; });
  EXPECT_NEAR(results[0].log_probability, -5 * std::log(4.0), 1e-9);
}

TEST(Generate, RefusesLogitsThatAreNotFinite) {
  const auto broken = [](std::span<const StreamWindow>, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), std::numeric_limits<float>::quiet_NaN());
  };
  try {
    write(broken, kLetters, 8, {0}, settings(1), 7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unusable_model);
  }
}

TEST(Generate, AnEmptyPromptStartsFromTheEndMarkElseANewline) {
  EXPECT_EQ(start_id(kDocuments), 0);
  EXPECT_EQ(start_id(Tokenizer({U'\t', U'\n', U'a'}, false)), 1);
  EXPECT_EQ(start_id(kLetters), 0);
}

}  // namespace
}  // namespace chargpt
