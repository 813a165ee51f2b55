#include "chargpt/sampling/generate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "chargpt/base/error.hpp"
#include "chargpt/base/thread_pool.hpp"
#include "sampling/support.hpp"

namespace chargpt {
namespace {

using Ids = std::vector<std::int32_t>;

const Tokenizer kAlphabet({U'a', U'b', U'c', U'd'}, false);
const Tokenizer kDocuments({U'a', U'b', U'c'}, true);

struct Written {
  Ids ids;
  Finish finish;
};

/// One stream alone.
Written write(
    const NextLogits& next, const Tokenizer& tokenizer, std::int64_t context, const Ids& prompt,
    const SampleConfig& config, std::int64_t seed,
    const std::function<bool(std::int32_t)>& more = [](std::int32_t) { return true; }) {
  Written written;
  StreamStart start{prompt, config};
  start.settings.seed = seed;
  const auto results = generate(next, tokenizer, context, {start}, [&](std::size_t, std::int32_t id) {
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
  const Written got = write(count_up, kAlphabet, 8, {1}, settings(6), 1);
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
  const Written got = write(count_up, kAlphabet, 8, {1}, settings(6), 1, [&](std::int32_t) { return --left > 0; });
  EXPECT_EQ(got.finish, Finish::interrupted);
  EXPECT_EQ(got.ids, (Ids{2, 3}));
}

TEST(Generate, OfLengthNothingIsNothing) {
  EXPECT_TRUE(write(count_up, kAlphabet, 8, {1}, settings(0), 1).ids.empty());
}

/// What the model is shown while a prompt is continued.
std::vector<Ids> shown(std::int64_t context, const Ids& prompt, std::int64_t length, bool exact) {
  std::vector<Ids> seen;
  const NextLogits spy = [&](std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
    seen.emplace_back(windows[0].ids.begin(), windows[0].ids.end());
    count_up(windows, logits, ready);
  };
  SampleConfig config = settings(length);
  config.exact = exact;
  write(spy, kAlphabet, context, prompt, config, 1);
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
  const Ids first = write(flat, kAlphabet, 8, {0}, settings(100), 7).ids;
  EXPECT_EQ(first, write(flat, kAlphabet, 8, {0}, settings(100), 7).ids);
  EXPECT_NE(first, write(flat, kAlphabet, 8, {0}, settings(100), 8).ids);
}

TEST(Generate, AStreamIsTheSameAloneAndAmongOthersThatEndEarlier) {
  std::vector<StreamStart> starts = {
      {{1}, settings(30)}, {{2, 0}, settings(30)}, {{1, 1, 1}, settings(20, 2.0)}, {{3}, settings(30)}};
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i].settings.seed = static_cast<std::int64_t>(i);
  starts[3].settings.frequency_penalty = 2.0;
  std::vector<Ids> together(starts.size());
  generate(flat, kDocuments, 4, starts, [&](std::size_t stream, std::int32_t id) {
    together[stream].push_back(id);
    return stream != 1 || together[stream].size() < 3;
  });
  for (const std::size_t stream : {0, 2, 3}) {
    const SampleConfig& own = starts[stream].settings;
    EXPECT_EQ(together[stream], write(flat, kDocuments, 4, starts[stream].prompt, own, own.seed).ids);
  }
}

TEST(Generate, RowsMayBeCompleteInAnyOrderOnAnyThread) {
  // A model that likes to write what it wrote last, so that the rows differ.
  const NextLogits in_order = [](std::span<const StreamWindow> windows, std::span<float> logits,
                                 const RowReady& ready) {
    std::fill(logits.begin(), logits.end(), 0.0F);
    const std::size_t V = logits.size() / windows.size();
    for (std::size_t i = 0; i < windows.size(); ++i) {
      logits[i * V + static_cast<std::size_t>(windows[i].ids.back())] = 2.0F;
      ready(i);
    }
  };
  ThreadPool pool(3);
  const NextLogits scattered = [&](std::span<const StreamWindow> windows, std::span<float> logits,
                                   const RowReady& ready) {
    in_order(windows, logits, [](std::size_t) {});
    pool.run(static_cast<std::int64_t>(windows.size()),
             [&](std::int64_t task, int) { ready(windows.size() - 1 - static_cast<std::size_t>(task)); });
  };
  std::vector<StreamStart> starts(20, {{1}, settings(2000)});
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i].settings.seed = static_cast<std::int64_t>(i);
  const auto all = [&](const NextLogits& next) {
    std::vector<Ids> ids(starts.size());
    generate(next, kAlphabet, 4, starts, [&](std::size_t stream, std::int32_t id) {
      ids[stream].push_back(id);
      return true;
    });
    return ids;
  };
  EXPECT_EQ(all(scattered), all(in_order));
}

TEST(Generate, TheLogProbabilityIsTheModelsOwnWhateverTheFilters) {
  SampleConfig greedy = settings(5, 0.0);
  const auto results = generate(flat, kAlphabet, 8, {{{0}, greedy}}, [](std::size_t, std::int32_t) { return true; });
  EXPECT_NEAR(results[0].log_probability, -5 * std::log(4.0), 1e-9);
}

TEST(Generate, RefusesLogitsThatAreNotFinite) {
  const auto broken = [](std::span<const StreamWindow>, std::span<float> logits, const RowReady& ready) {
    std::fill(logits.begin(), logits.end(), std::numeric_limits<float>::quiet_NaN());
    ready(0);
  };
  try {
    write(broken, kAlphabet, 8, {0}, settings(1), 7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unusable_model);
  }
}

/// What is written after "a" by a model that counts up: "bcdabcd..."
Written stopped_at(std::vector<std::string> stop, std::int64_t length = 9) {
  SampleConfig config = settings(length);
  config.stop = std::move(stop);
  return write(count_up, kAlphabet, 8, {0}, config, 1);
}

TEST(Generate, ATextToStopAtIsNotWritten) {
  EXPECT_EQ(stopped_at({"da"}).ids, (Ids{1, 2}));
  EXPECT_EQ(stopped_at({"da"}).finish, Finish::stop);
  EXPECT_TRUE(stopped_at({"b"}).ids.empty());
}

TEST(Generate, OfSeveralTextsTheOneThatIsCompleteFirstStops) {
  EXPECT_EQ(stopped_at({"abc", "cd"}).ids, (Ids{1}));
  EXPECT_EQ(stopped_at({"bcdab", "cd"}).ids, (Ids{1}));  // the first has begun before, and is cut short
  EXPECT_EQ(stopped_at({"d", "cd"}).ids, (Ids{1}));      // complete at once: no part of the longer one is written
}

TEST(Generate, WhatOnlyBeganLikeATextToStopAtIsWritten) {
  EXPECT_EQ(stopped_at({"bcdd", "never \u00e9"}).ids, stopped_at({}).ids);
  EXPECT_EQ(stopped_at({"bcd"}, 2).ids, (Ids{1, 2}));
  EXPECT_EQ(stopped_at({"bcd"}, 2).finish, Finish::length);
}

TEST(Generate, ThePromptIsNoPartOfATextToStopAt) { EXPECT_EQ(stopped_at({"ab"}).ids, (Ids{1, 2, 3})); }

TEST(Generate, HoldsBackOnlyWhatMayBeginATextToStopAt) {
  SampleConfig config = settings(9);
  config.stop = {"dab"};
  std::vector<std::size_t> asked_when_passed_on;
  std::size_t asked = 0;
  const NextLogits spy = [&](std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
    ++asked;
    count_up(windows, logits, ready);
  };
  const auto results = generate(spy, kAlphabet, 8, {{{0}, config}}, [&](std::size_t, std::int32_t) {
    asked_when_passed_on.push_back(asked);
    return true;
  });
  EXPECT_EQ(asked_when_passed_on, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(results[0].length, 2);
  EXPECT_NEAR(results[0].log_probability, 0.0, 1e-9);
}

TEST(Generate, UntilTheEndMarkTheLengthDoesNotCount) {
  SampleConfig config = settings(1);
  config.until_end_mark = true;
  const Written got = write(count_up, kDocuments, 8, {1}, config, 1);
  EXPECT_EQ(got.ids, (Ids{2, 3}));
  EXPECT_EQ(got.finish, Finish::end_mark);
}

TEST(Generate, PenaltiesCountThePromptAndTheTextButNotTheEndMarkOfAnEmptyPrompt) {
  SampleConfig config = settings(4, 0.0);
  config.presence_penalty = 1.0;
  config.penalty_window = 3;
  EXPECT_EQ(write(flat, kAlphabet, 8, {0}, config, 1).ids, (Ids{1, 2, 3, 0}));
  config.length = 3;
  config.penalty_window = 64;
  EXPECT_EQ(write(flat, kAlphabet, 8, {0, 1}, config, 1).ids, (Ids{2, 3, 0}));
  EXPECT_EQ(write(flat, kDocuments, 8, {0}, config, 1).finish, Finish::end_mark);
}

TEST(Generate, BannedCharactersAreNeverWrittenAndOnlyAllowedOnesAre) {
  SampleConfig config = settings(200);
  config.ban = "b";
  const Ids banned = write(flat, kAlphabet, 8, {0}, config, 1).ids;
  EXPECT_EQ(std::set(banned.begin(), banned.end()), (std::set<std::int32_t>{0, 2, 3}));
  config.allow = "ab";
  const Ids allowed = write(flat, kAlphabet, 8, {0}, config, 1).ids;
  EXPECT_EQ(std::set(allowed.begin(), allowed.end()), (std::set<std::int32_t>{0}));
}

}  // namespace
}  // namespace chargpt
