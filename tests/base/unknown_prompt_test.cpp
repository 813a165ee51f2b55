#include "chargpt/base/unknown_prompt.hpp"

#include <gtest/gtest.h>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

TEST(UnknownPrompt, IsOneOfThreeRules) {
  EXPECT_EQ(parse_unknown_prompt("error").rule, UnknownPrompt::Rule::error);
  EXPECT_EQ(parse_unknown_prompt("skip").rule, UnknownPrompt::Rule::skip);
  const UnknownPrompt replace = parse_unknown_prompt("replace=ö");
  EXPECT_EQ(replace.rule, UnknownPrompt::Rule::replace);
  EXPECT_EQ(replace.replacement, U'ö');
  EXPECT_EQ(parse_unknown_prompt("replace==").replacement, U'=');
}

TEST(UnknownPrompt, IsNothingElse) {
  for (const char* text : {"", "Skip", "replace", "replace=", "replace=ab", "charge"}) {
    expect_error(ExitCode::usage, {"sample.unknown", "replace=X"}, [&] { parse_unknown_prompt(text); });
  }
}

}  // namespace
}  // namespace chargpt
