#include "chargpt/sampling/generate.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

using Ids = std::vector<std::int32_t>;

const Tokenizer kLetters({U'a', U'b', U'c', U'd'}, false);
const Tokenizer kDocuments({U'a', U'b', U'c'}, true);

/// A model that is sure that the id after n is n + 1, in a circle.
void count_up(std::span<const std::int32_t> ids, std::span<double> logits) {
  std::fill(logits.begin(), logits.end(), 0.0);
  logits[static_cast<std::size_t>(ids.back() + 1) % logits.size()] = 50.0;
}

SampleConfig settings(std::int64_t length, double temperature = 1.0) {
  SampleConfig config;
  config.length = length;
  config.temperature = temperature;
  return config;
}

const auto kKeepGoing = [](std::int32_t) { return true; };

TEST(Generate, FollowsTheModelForTheLengthAskedFor) {
  const Generated got = generate(count_up, kLetters, 8, {1}, settings(6), 1, kKeepGoing);
  EXPECT_EQ(got.ids, (Ids{2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(got.finish, Finish::length);
}

TEST(Generate, StopsBeforeTheEndMark) {
  const Generated got = generate(count_up, kDocuments, 8, {1}, settings(6), 1, kKeepGoing);
  EXPECT_EQ(got.ids, (Ids{2, 3}));
  EXPECT_EQ(got.finish, Finish::end_mark);
}

TEST(Generate, StopsWhenTheReceiverHasEnough) {
  Ids seen;
  const auto two = [&](std::int32_t id) { return seen.push_back(id), seen.size() < 2; };
  EXPECT_EQ(generate(count_up, kLetters, 8, {1}, settings(6), 1, two).finish, Finish::stopped);
  EXPECT_EQ(seen, (Ids{2, 3}));
}

TEST(Generate, ShowsTheModelTheLastContextIds) {
  std::vector<Ids> seen;
  const NextLogits spy = [&](std::span<const std::int32_t> ids, std::span<double> logits) {
    seen.emplace_back(ids.begin(), ids.end());
    count_up(ids, logits);
  };
  generate(spy, kLetters, 3, {3, 2, 1, 0}, settings(2), 1, kKeepGoing);
  EXPECT_EQ(seen, (std::vector<Ids>{{2, 1, 0}, {1, 0, 1}}));
}

TEST(Generate, ALongPromptGivesTheTextOfItsLastContextIds) {
  const auto flat = [](std::span<const std::int32_t>, std::span<double> logits) {
    std::fill(logits.begin(), logits.end(), 0.0);
  };
  EXPECT_EQ(generate(flat, kLetters, 3, {3, 2, 1, 0, 2}, settings(50), 7, kKeepGoing).ids,
            generate(flat, kLetters, 3, {1, 0, 2}, settings(50), 7, kKeepGoing).ids);
}

TEST(Generate, TheSeedAloneDecidesAmongEquals) {
  const auto flat = [](std::span<const std::int32_t>, std::span<double> logits) {
    std::fill(logits.begin(), logits.end(), 0.0);
  };
  const Ids first = generate(flat, kLetters, 8, {0}, settings(100), 7, kKeepGoing).ids;
  EXPECT_EQ(first, generate(flat, kLetters, 8, {0}, settings(100), 7, kKeepGoing).ids);
  EXPECT_NE(first, generate(flat, kLetters, 8, {0}, settings(100), 8, kKeepGoing).ids);
}

TEST(Generate, RefusesLogitsThatAreNotFinite) {
  const auto broken = [](std::span<const std::int32_t>, std::span<double> logits) {
    std::fill(logits.begin(), logits.end(), std::numeric_limits<double>::quiet_NaN());
  };
  try {
    generate(broken, kLetters, 8, {0}, settings(1), 7, kKeepGoing);
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
