#include "chargpt/base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

void expect_refused(std::string_view text, std::initializer_list<std::string> parts) {
  expect_error(ExitCode::bad_data, parts, [&] { decode_utf8(text, "d.txt"); });
}

TEST(Utf8, EncodesAndDecodesEveryCodePoint) {
  std::u32string all;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all.push_back(c);
  }
  EXPECT_TRUE(decode_utf8(encode_utf8(all), "all") == all);
}

TEST(Utf8, EncodesCodePointsOfEveryLength) {
  EXPECT_EQ(encode_utf8(U'A'), "A");
  EXPECT_EQ(encode_utf8(U'\u00F6'), "\xC3\xB6");
  EXPECT_EQ(encode_utf8(U'\u6F22'), "\xE6\xBC\xA2");
  EXPECT_EQ(encode_utf8(U'\U0001F600'), "\xF0\x9F\x98\x80");
}

TEST(Utf8, AnEmojiIsOneCodePoint) { EXPECT_EQ(decode_utf8("Test \xF0\x9F\x98\x80!", "d").size(), 7); }

TEST(Utf8, NullCharactersAndNoncharactersAreText) {
  EXPECT_EQ(decode_utf8(std::string_view("a\0b", 3), "d"), std::u32string(U"a\0b", 3));
  EXPECT_EQ(decode_utf8("\xEF\xBF\xBE", "d"), U"\uFFFE");
}

TEST(Utf8, AnEmptyTextHasNoCodePoints) { EXPECT_TRUE(decode_utf8("", "d").empty()); }

TEST(Utf8, RefusesAWindowsByteWithOffsetLineValueAndConversion) {
  std::string text(7047, 'x');
  text[10] = '\n';
  expect_refused(text + "\x92s",
                 {"d.txt: not valid UTF-8 at byte offset 7047 (line 2): 0x92", "iconv -f WINDOWS-1252 -t UTF-8"});
}

TEST(Utf8, RefusesOverlongForms) {
  expect_refused("ab\xC0\xAF", {"offset 2 (line 1): 0xC0"});
  expect_refused("ab\xC1\xBF", {"offset 2 (line 1): 0xC1"});
  expect_refused("a\xE0\x9F\xBF", {"offset 1 (line 1): 0xE0"});
  expect_refused("\xF0\x8F\xBF\xBF", {"offset 0 (line 1): 0xF0"});
}

TEST(Utf8, RefusesASurrogateHalf) {
  expect_refused("a\xED\xA0\x80", {"offset 1 (line 1): 0xED"});
  expect_refused("a\xED\xBF\xBF", {"offset 1 (line 1): 0xED"});
}

TEST(Utf8, RefusesValuesBeyondTheLastCodePoint) {
  expect_refused("\xF4\x90\x80\x80", {"offset 0 (line 1): 0xF4"});
  expect_refused("\xF5\x80\x80\x80", {"offset 0 (line 1): 0xF5"});
}

TEST(Utf8, RefusesSequencesCutShort) {
  expect_refused("a\xC3", {"offset 1 (line 1): 0xC3"});
  expect_refused("a\xF0\x9F\x98", {"offset 1 (line 1): 0xF0"});
  expect_refused("\xE6\xBC(", {"offset 0 (line 1): 0xE6"});
}

TEST(Utf8, RefusesAContinuationByteAlone) { expect_refused("a\nb\x80", {"offset 3 (line 2): 0x80"}); }

TEST(Utf8, NamesUtf16WhereATextBeginsLikeIt) {
  for (const std::string_view mark : {"\xFF\xFE", "\xFE\xFF"}) {
    expect_refused(mark, {"0xF", "iconv -f UTF-16 -t UTF-8"});
  }
}

TEST(Utf8, DescribesWhatCanBeShownWithItsForm) {
  EXPECT_EQ(describe_code_point(U'A'), "U+0041 'A'");
  EXPECT_EQ(describe_code_point(U'\U0001F600'), "U+1F600 '\xF0\x9F\x98\x80'");
}

TEST(Utf8, DescribesWhatCannotBeShownByNumberAlone) {
  for (const auto& [code_point, text] : {std::pair<char32_t, std::string>{U'\n', "U+000A"},
                                         {0x85, "U+0085"},
                                         {0x308, "U+0308"},
                                         {0x200B, "U+200B"},
                                         {0xFEFF, "U+FEFF"},
                                         {0x10FFFF, "U+10FFFF"}}) {
    EXPECT_EQ(describe_code_point(code_point), text);
  }
}

}  // namespace
}  // namespace chargpt
