#include "chargpt/base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

void expect_invalid(std::string_view text, std::initializer_list<std::string> parts) {
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
  expect_invalid(text + "\x92s", {"d.txt: not valid UTF-8 at byte offset 7047 (line 2, column 7037): 0x92",
                                  "iconv -f WINDOWS-1252 -t UTF-8"});
}

TEST(Utf8, RefusesOverlongForms) {
  expect_invalid("ab\xC0\xAF", {"offset 2 (line 1, column 3): 0xC0"});
  expect_invalid("ab\xC1\xBF", {"offset 2 (line 1, column 3): 0xC1"});
  expect_invalid("a\xE0\x9F\xBF", {"offset 1 (line 1, column 2): 0xE0"});
  expect_invalid("\xF0\x8F\xBF\xBF", {"offset 0 (line 1, column 1): 0xF0"});
}

TEST(Utf8, RefusesASurrogateHalf) {
  expect_invalid("a\xED\xA0\x80", {"offset 1 (line 1, column 2): 0xED"});
  expect_invalid("a\xED\xBF\xBF", {"offset 1 (line 1, column 2): 0xED"});
}

TEST(Utf8, RefusesValuesBeyondTheLastCodePoint) {
  expect_invalid("\xF4\x90\x80\x80", {"offset 0 (line 1, column 1): 0xF4"});
  expect_invalid("\xF5\x80\x80\x80", {"offset 0 (line 1, column 1): 0xF5"});
}

TEST(Utf8, RefusesSequencesCutShort) {
  expect_invalid("a\xC3", {"offset 1 (line 1, column 2): 0xC3"});
  expect_invalid("a\xF0\x9F\x98", {"offset 1 (line 1, column 2): 0xF0"});
  expect_invalid("\xE6\xBC(", {"offset 0 (line 1, column 1): 0xE6"});
}

TEST(Utf8, RefusesAContinuationByteAlone) { expect_invalid("a\nb\x80", {"offset 3 (line 2, column 2): 0x80"}); }

TEST(Utf8, NamesUtf16WhereATextBeginsLikeIt) {
  for (const std::string_view mark : {"\xFF\xFE", "\xFE\xFF"}) {
    expect_invalid(mark, {"0xF", "iconv -f UTF-16 -t UTF-8"});
  }
}

TEST(Utf8, TheColumnCountsCharacters) {
  expect_invalid("x\n\xC3\xB6\xE6\xBC\xA2\xF0\x9F\x98\x80\xFF", {"byte offset 11 (line 2, column 4): 0xFF"});
}

/// The bounds of table 3-7 of the Unicode standard, "Well-Formed UTF-8 Byte Sequences": a first byte and the range that
/// each of those behind it must lie in.
struct Row {
  unsigned first_low, first_high, second_low, second_high, length;
};
constexpr Row kTable[] = {{0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                          {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                          {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};

bool is_continuation(unsigned byte) { return 0x80 <= byte && byte <= 0xBF; }

/// By the table alone: is this one well-formed sequence?
bool in_table(const std::string& bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (const Row& row : kTable) {
    if (at(0) < row.first_low || at(0) > row.first_high) continue;
    if (bytes.size() != row.length) return false;
    if (row.length == 1) return true;
    if (at(1) < row.second_low || at(1) > row.second_high) return false;
    for (std::size_t i = 2; i < row.length; ++i) {
      if (!is_continuation(at(i))) return false;
    }
    return true;
  }
  return false;
}

TEST(Utf8, AcceptsExactlyTheSequencesOfTheStandardsTable) {
  const std::string ends("\x00\x41\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC2\xE0\xED\xF4\xFF", 15);  // and every bound
  for (unsigned first = 0; first < 256; ++first) {
    const std::string one(1, static_cast<char>(first));
    EXPECT_EQ(find_invalid_utf8(one) == 1, in_table(one)) << first;
    for (unsigned second = 0; second < 256; ++second) {
      const std::string two = one + static_cast<char>(second);
      const bool separate = first < 0x80 && second < 0x80;
      ASSERT_EQ(find_invalid_utf8(two) == 2, in_table(two) || separate) << first << ' ' << second;
      if (first < 0xE0) continue;
      for (const char third : ends) {
        const std::string three = two + third;
        ASSERT_EQ(find_invalid_utf8(three) == 3, in_table(three)) << first << ' ' << second << ' ' << third;
        if (first < 0xF0) continue;
        for (const char fourth : ends) {
          const std::string four = three + fourth;
          ASSERT_EQ(find_invalid_utf8(four) == 4, in_table(four)) << first << ' ' << second << ' ' << third;
        }
      }
    }
  }
}

TEST(Utf8, TheIllFormedExamplesOfTheStandardAreRefusedWhereTheyBegin) {
  // Tables 3-8 to 3-11: overlong forms, surrogates, other ill-formed sequences, truncated ones.
  for (const std::string bytes :
       {"\xC0\xAF", "\xE0\x80\xBF", "\xF0\x81\x82", "\xED\xA0\x80", "\xED\xBF\xBF", "\xED\xAF", "\xF4\x91\x92\x93",
        "\xFF", "\x80\xBF", "\xE1\x80", "\xE2", "\xF0\x91\x92", "\xF1\xBF"}) {
    EXPECT_EQ(find_invalid_utf8("ab" + bytes + "A"), 2U) << bytes;
  }
}

TEST(Utf8, AMessageIsPrintedWithoutControls) {
  EXPECT_EQ(printable("a\tb\n\xC3\xA4\xF0\x9F\x98\x80"), "a\tb\n\xC3\xA4\xF0\x9F\x98\x80");
  EXPECT_EQ(printable("a\x1b[31m\r\x7f"), "a\\x1b[31m\\x0d\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "1m\xC2\xA0"),
            "\\xc2\\x9b"
            "1m\xC2\xA0");
  EXPECT_EQ(printable("\xFF"
                      "a\xC3"),
            "\\xff"
            "a\\xc3");
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
