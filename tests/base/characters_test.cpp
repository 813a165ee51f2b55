#include "chargpt/base/characters.hpp"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace chargpt
