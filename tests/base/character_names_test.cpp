#include "chargpt/base/character_names.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

TEST(CharacterName, IsUnicodes) {
  EXPECT_EQ(character_name(U'a'), "LATIN SMALL LETTER A");
  EXPECT_EQ(character_name(U'\u00F6'), "LATIN SMALL LETTER O WITH DIAERESIS");
  EXPECT_EQ(character_name(U'\u6F22'), "CJK UNIFIED IDEOGRAPH-6F22");
  EXPECT_EQ(character_name(U'\uD55C'), "HANGUL SYLLABLE HAN");
  EXPECT_EQ(character_name(U'\U0001F600'), "GRINNING FACE");
  EXPECT_EQ(character_name(U'\u200D'), "ZERO WIDTH JOINER");
}

TEST(CharacterName, IsNeverEmpty) {
  EXPECT_EQ(character_name(U'\n'), "LINE FEED");
  EXPECT_EQ(character_name(U'\0'), "NULL");
  EXPECT_EQ(character_name(U'\u0001'), "<control-0001>");
  EXPECT_EQ(character_name(U'\uE000'), "<private use area-E000>");
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) {
      ASSERT_NE(character_name(c), "") << +c;
    }
  }
}

TEST(Script, NamesTheScriptOfALetter) {
  EXPECT_EQ(script(U'a'), "Latin");
  EXPECT_EQ(script(U'\u00F6'), "Latin");
  EXPECT_EQ(script(U'\u0416'), "Cyrillic");
  EXPECT_EQ(script(U'\u05D0'), "Hebrew");
  EXPECT_EQ(script(U'\u6F22'), "Han");
  EXPECT_EQ(script(U'\U00020000'), "Han");
  EXPECT_EQ(script(U'\u3042'), "Hiragana");
  EXPECT_EQ(script(U'\uD55C'), "Hangul");
  EXPECT_EQ(script(U'\u13A0'), "Cherokee");
}

TEST(Script, WhatManyScriptsUseIsCommon) {
  for (const char32_t c : {U' ', U'1', U'\n', U'\u00D7', U'\u3002', U'\U0001F600'}) EXPECT_EQ(script(c), "Common");
  EXPECT_EQ(script(U'\u0308'), "Inherited");
  EXPECT_EQ(script(U'\uE000'), "Unknown");
}

}  // namespace
}  // namespace chargpt
