#include "chargpt/sampling/prompt.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

using Ids = std::vector<std::int32_t>;

const Tokenizer kText({U'\n', U'a', U'e', U'ö'}, false);
const Tokenizer kMarked({U'a', U'b'}, true);

struct Started {
  Ids prompt;
  std::vector<std::string> warnings;
};

Started start(SampleConfig settings, const Tokenizer& tokenizer = kText, std::int64_t context = 8,
              bool marked = false) {
  Started started;
  const auto warn = [&](const std::string& warning) { started.warnings.push_back(warning); };
  started.prompt = start_stream(settings, tokenizer, context, "--prompt", warn, marked).prompt;
  return started;
}

SampleConfig prompt(const std::string& text, const std::string& unknown = "error") {
  SampleConfig settings;
  settings.prompt = text;
  settings.unknown = unknown;
  return settings;
}

void expect_warning(const Started& started, const std::vector<std::string>& parts) {
  ASSERT_EQ(started.warnings.size(), 1U);
  for (const std::string& part : parts) {
    EXPECT_NE(started.warnings[0].find(part), std::string::npos) << started.warnings[0] << " lacks " << part;
  }
}

TEST(Prompt, AnEmptyOneStartsFromTheEndMarkElseANewlineElseTheFirstId) {
  EXPECT_EQ(start_id(kMarked), 0);
  EXPECT_EQ(start_id(Tokenizer({U'\t', U'\n', U'a'}, false)), 1);
  EXPECT_EQ(start_id(Tokenizer({U'a', U'b'}, false)), 0);
  EXPECT_EQ(encode_prompt("", kText, "x"), (Ids{0}));
}

TEST(Prompt, AnUnknownCharacterIsRefusedWithPlaceAndNearestKnownOnes) {
  expect_error(ExitCode::bad_data, {"--prompt", "U+00E9 'é'", "position 3", "line 2", "U+0065 'e'", "--unknown"},
               [] { start(prompt("a\naé", "error")); });
}

TEST(Prompt, UnknownCharactersAreSkippedOrReplacedAndCounted) {
  const Started skipped = start(prompt("axeé", "skip"));
  EXPECT_EQ(skipped.prompt, (Ids{1, 2}));
  expect_warning(skipped, {"2 in all", "left out", "U+0078", "U+00E9"});
  const Started replaced = start(prompt("axeé", "replace=ö"));
  EXPECT_EQ(replaced.prompt, (Ids{1, 3, 2, 3}));
  expect_warning(replaced, {"2 in all", "replaced by U+00F6"});
  EXPECT_TRUE(start(prompt("ae", "replace=ö")).warnings.empty());
}

TEST(Prompt, OfWhichNothingIsLeftStartsLikeAnEmptyOne) {
  EXPECT_EQ(start(prompt("xyz", "skip")).prompt, (Ids{0}));
  EXPECT_EQ(start(prompt("xyz", "skip"), Tokenizer({U'\0', U'b', U'a'}, true)).prompt, (Ids{0}));
}

TEST(Prompt, AReplacementMustBeKnown) {
  expect_error(ExitCode::usage, {"replace=q", "U+0071"}, [] { start(prompt("a", "replace=q")); });
}

TEST(Prompt, LongerThanTheContextIsSaid) {
  expect_warning(start(prompt("aeaea"), kText, 4), {"--prompt", "5 characters", "last 4"});
  EXPECT_TRUE(start(prompt("aeae"), kText, 4).warnings.empty());
}

TEST(Prompt, ThatBeginsADocumentStandsBehindTheEndMark) {
  EXPECT_EQ(start(prompt("ba"), kMarked).prompt, (Ids{2, 1}));
  EXPECT_EQ(start(prompt("ba"), kMarked, 8, true).prompt, (Ids{0, 2, 1}));
  EXPECT_EQ(start(prompt(""), kMarked, 8, true).prompt, (Ids{0}));  // not twice
  EXPECT_EQ(start(prompt("x", "skip"), kMarked, 8, true).prompt, (Ids{0}));
  EXPECT_EQ(start(prompt("ae"), kText, 8, true).prompt, (Ids{1, 2}));  // has none
}

TEST(Prompt, TheMarkBeforeItIsNoCharacterOfIt) {
  EXPECT_TRUE(start(prompt("abab"), kMarked, 4, true).warnings.empty());
  expect_warning(start(prompt("ababa"), kMarked, 4, true), {"5 characters", "last 4"});
}

TEST(Prompt, CharactersThatTheModelNeverWritesAreSaid) {
  SampleConfig settings;
  settings.ban = "aq";
  expect_warning(start(settings), {"--ban", "U+0071"});
  settings.ban = "";
  settings.stop = {"a", "eq"};
  expect_warning(start(settings), {"--stop", "U+0071"});
}

TEST(Prompt, WhatCouldNotBeWrittenOrNeverEndIsRefused) {
  SampleConfig settings;
  settings.allow = "ab";
  settings.ban = "ab";
  expect_error(ExitCode::usage, {"sample.allow", "sample.ban"}, [&] { start(settings, kMarked); });
  settings = {};
  settings.until_end_mark = true;
  expect_error(ExitCode::usage, {"sample.until_end_mark", "--length"}, [&] { start(settings, kText); });
  start(settings, kMarked);
}

TEST(AllowedIds, AreOfCharactersAsTheModelReadsThemAndNeverTheUnknownMark) {
  SampleConfig settings;
  settings.ban = "o\u0308";
  EXPECT_EQ(allowed_ids(settings, Tokenizer({U'a', U'o', U'ö'}, false, false, Normalization::nfc)),
            (std::vector<bool>{true, true, false}));
  settings.ban = "\u00f6";
  const auto bytes = allowed_ids(settings, Tokenizer::bytes());
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), false), 2);
  EXPECT_FALSE(bytes[0xc3]);
  EXPECT_FALSE(bytes[0xb6]);
  settings.ban = "";
  settings.allow = "q";
  expect_error(ExitCode::usage, {"sample.allow"}, [&] { start(settings, Tokenizer({U'a'}, false, true)); });
  settings.ban = "a";
  settings.allow = "";
  expect_error(ExitCode::usage, {"sample.ban"}, [&] { start(settings, Tokenizer({U'a'}, false, true)); });
  settings.ban = "";
  settings.allow = "aq";
  expect_warning(start(settings, Tokenizer({U'a'}, false, true)), {"--allow", "U+0071"});
}

TEST(AllowedIds, NeverTouchTheEndMark) {
  SampleConfig settings;
  EXPECT_TRUE(allowed_ids(settings, kMarked).empty());
  settings.allow = "b";
  EXPECT_EQ(allowed_ids(settings, kMarked), (std::vector<bool>{true, false, true}));
  settings.allow = "";
  settings.ban = "b";
  EXPECT_EQ(allowed_ids(settings, kMarked), (std::vector<bool>{true, true, false}));
}

}  // namespace
}  // namespace chargpt
