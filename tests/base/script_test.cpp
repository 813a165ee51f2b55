#include "chargpt/base/script.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

TEST(Script, NamesTheScriptOfALetter) {
  EXPECT_EQ(script(U'a'), "Latin");
  EXPECT_EQ(script(U'\u00F6'), "Latin");
  EXPECT_EQ(script(U'\u1E9E'), "Latin");
  EXPECT_EQ(script(U'\u0416'), "Cyrillic");
  EXPECT_EQ(script(U'\u05D0'), "Hebrew");
  EXPECT_EQ(script(U'\u6F22'), "Han");
  EXPECT_EQ(script(U'\U00020000'), "Han");
  EXPECT_EQ(script(U'\u3042'), "Hiragana");
  EXPECT_EQ(script(U'\uD55C'), "Hangul");
}

TEST(Script, WhatIsNoLetterIsCommon) {
  for (const char32_t c : {U' ', U'1', U'\n', U'\u00D7', U'\u3002', U'\U0001F600', U'\uE000'})
    EXPECT_EQ(script(c), "Common");
}

TEST(Script, AFurtherScriptIsOther) {
  EXPECT_EQ(script(U'\u13A0'), "Other");      // Cherokee
  EXPECT_EQ(script(U'\U00010400'), "Other");  // Deseret
}

}  // namespace
}  // namespace chargpt
