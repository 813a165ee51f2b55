#include "chargpt/base/characters.hpp"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <array>
#include <string>
#include <vector>

#include "chargpt/base/utf8.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

/// NUL and controls, CRLF, precomposed and decomposed, a family joined by ZWJ, U+FFFD, private use, right to left, a
/// byte order mark that is not the first character.
const std::u32string kMixed =
    std::u32string(1, U'\0') +
    U"a\u0001\u001B\u007F\r\n\t\u00F6o\u0308\U0001F468\u200D\U0001F469\u200D\U0001F467\uFFFD\uE000\U0010FFFF"
    U"\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627\u202E\uFEFF\u0300end";

TEST(Characters, BytesAreTheFirst256Characters) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  const std::u32string characters = byte_characters(bytes);
  ASSERT_EQ(characters.size(), 256U);
  for (char32_t i = 0; i < 256; ++i) EXPECT_EQ(characters[i], i);
}

TEST(Characters, WithoutNormalisationNothingIsChanged) {
  EXPECT_TRUE(text_characters(encode_utf8(kMixed), Normalization::none, "d.txt") == kMixed);
}

TEST(Characters, NfcComposesAndNfkcAlsoReplacesCompatibilityForms) {
  const std::string text = encode_utf8(U"o\u0308 \uFB01 \u2460\r\n");
  EXPECT_EQ(text_characters(text, Normalization::none, "d"), U"o\u0308 \uFB01 \u2460\r\n");
  EXPECT_EQ(text_characters(text, Normalization::nfc, "d"), U"\u00F6 \uFB01 \u2460\r\n");
  EXPECT_EQ(text_characters(text, Normalization::nfkc, "d"), U"\u00F6 fi 1\r\n");
}

TEST(Characters, NormalisingKeepsWhatHasOneFormOnly) {
  for (const std::u32string& text : {std::u32string(U"a\0b\u0001\r\n\uFFFD\uE000\uFFFE\U0001F468\u200D\U0001F469", 11),
                                     std::u32string(U"\u05E9\u05DC \u6F22\u5B57"), std::u32string()}) {
    EXPECT_TRUE(text_characters(encode_utf8(text), Normalization::nfc, "d") == text);
  }
}

TEST(Characters, HangulAndLongSequencesAreNormalisedAsTheStandardSays) {
  EXPECT_EQ(text_characters(encode_utf8(U"\u1112\u1161\u11AB"), Normalization::nfc, "d"), U"\uD55C");
  EXPECT_EQ(text_characters(encode_utf8(U"q\u0307\u0323"), Normalization::nfc, "d"), U"q\u0323\u0307");  // reordered
  EXPECT_EQ(text_characters(encode_utf8(U"\u212B"), Normalization::nfc, "d"), U"\u00C5");                // a singleton
}

TEST(Characters, InvalidTextIsRefusedBeforeItIsNormalised) {
  for (const Normalization form : {Normalization::none, Normalization::nfc, Normalization::nfkc}) {
    expect_error(ExitCode::bad_data, {"d.txt: not valid UTF-8 at byte offset 1"},
                 [&] { text_characters("a\x92", form, "d.txt"); });
  }
}

TEST(Characters, OneByteOrderMarkIsDroppedAtTheBeginning) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBF\xEF\xBB\xBFx"), "\xEF\xBB\xBFx");
  EXPECT_EQ(without_byte_order_mark("x\xEF\xBB\xBF"), "x\xEF\xBB\xBF");
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB"), "\xEF\xBB");
}

std::u32string normalised(const std::u32string& text, Normalization form) {
  std::u32string result;
  append_valid_characters(encode_utf8(text), form, result);
  return result;
}

bool is_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

TEST(BeginsNormalization, OnlyWhereBothHalvesGiveTheWhole) {
  const std::vector<std::u32string> befores = {U"a",       U"\u1100", U"\uAC00", U"\u09C7",     U"\u0B47",
                                               U"a\u0323", U"\u0CC6", U"\u0308", U"\U00011099", U"\U00016D67"};
  int beginnings = 0;
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x20000 ? 1 : 97) {
    if (is_surrogate(c) || !begins_normalization(c)) continue;
    ++beginnings;
    const std::u32string& before = befores[c % befores.size()];
    for (const Normalization form : {Normalization::nfc, Normalization::nfkc}) {
      ASSERT_EQ(normalised(before + c, form), normalised(before, form) + normalised({c}, form)) << std::hex << +c;
    }
  }
  EXPECT_GT(beginnings, 100'000);
}

TEST(BeginsNormalization, NotAtWhatComposesWithTheCharacterBeforeIt) {
  int second_parts = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    std::array<utf8proc_int32_t, 32> parts{};
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), 32, UTF8PROC_DECOMPOSE, &boundary);
    if (is_surrogate(c) || count < 2 || normalised({c}, Normalization::nfc) != std::u32string{c}) continue;
    ++second_parts;
    EXPECT_FALSE(begins_normalization(static_cast<char32_t>(parts[static_cast<std::size_t>(count - 1)])))
        << std::hex << +c;
  }
  EXPECT_GT(second_parts, 11'172);  // Korean syllables alone
}

TEST(BeginsNormalization, AtLettersOfEveryScript) {
  for (const char32_t c : std::u32string(U"a\nz\u00E9\u0416\u05D0\u0627\u0915\u0E01\u10D0\u1100\uAC00\u3042\u4E2D\u3002"
                                         U"\U00010330\U0001F600\U00020000")) {
    EXPECT_TRUE(begins_normalization(c)) << std::hex << +c;
  }
  for (const char32_t c : std::u32string(U"\u0301\u0345\u093E\u0F71\u1161\u11A8\u200D\uFE0F\uFF9E\u0E33")) {
    EXPECT_EQ(begins_normalization(c), c == U'\u200D') << std::hex << +c;
  }
}

}  // namespace
}  // namespace chargpt
