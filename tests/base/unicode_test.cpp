#include "chargpt/base/unicode.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

TEST(CharClass, FollowsTheGeneralCategory) {
  for (const char32_t c : {U'a', U'Z', U'ö', U'я', U'漢', U'\u0308'}) EXPECT_EQ(char_class(c), CharClass::letter) << +c;
  for (const char32_t c : {U'0', U'9', U'٣', U'½'}) EXPECT_EQ(char_class(c), CharClass::digit) << +c;
  for (const char32_t c : {U' ', U'\n', U'\t', U'\r', U'\u3000', U'\u00a0'}) {
    EXPECT_EQ(char_class(c), CharClass::space) << +c;
  }
  for (const char32_t c : {U'.', U'_', U'+', U'$', U'。', U'😀'}) EXPECT_EQ(char_class(c), CharClass::punctuation) << +c;
  for (const char32_t c : {U'\0', U'\u0007', U'\u200b', U'\ue000'}) EXPECT_EQ(char_class(c), CharClass::other) << +c;
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(U""), 0);
  EXPECT_EQ(display_width(U"abö"), 3);
  EXPECT_EQ(display_width(U"床前a"), 5);
  EXPECT_EQ(display_width(U"o\u0308"), 1);
}

TEST(Visible, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(visible(U'a'), U"a");
  EXPECT_EQ(visible(U'床'), U"床");
  EXPECT_EQ(visible(U' '), U"␣");
  EXPECT_EQ(visible(U'\n'), U"\\n");
  EXPECT_EQ(visible(U'\u0007'), U"U+0007");
  EXPECT_EQ(visible(U'\u3000'), U"U+3000");
  EXPECT_EQ(display_width(visible(U'\u0308')), 1);
}

}  // namespace
}  // namespace chargpt
