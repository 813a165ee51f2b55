#include "chargpt/base/json_tokens.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "chargpt/base/error.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {
namespace {

/// What parse_json() makes of a text that is all of one value; nothing where it refuses it.
Json strict_value(const std::string& text) {
  try {
    return parse_json(text, {.source = "d"});
  } catch (const Error&) {
    return nullptr;
  }
}

/// Calls use(text) with every text of up to `longest` of these characters.
template <class Use>
void for_each_text(const std::string& characters, std::size_t longest, const Use& use, const std::string& begin = "") {
  use(begin);
  if (begin.size() == longest) return;
  for (const char c : characters) for_each_text(characters, longest, use, begin + c);
}

TEST(JsonNumber, TakesJustTheNumbersOfTheGrammar) {
  int numbers = 0;
  for_each_text("-+.e01", 5,  // more digits of an exponent are too many for parse_json()
                [&](const std::string& text) {
                  JsonNumber number;
                  bool all = true;
                  for (const char c : text) all = all && number.take(c);
                  EXPECT_EQ(all && number.complete(), strict_value(text).is_number()) << text;
                  numbers += all && number.complete() ? 1 : 0;
                });
  EXPECT_GT(numbers, 100);
  JsonNumber number;
  for (const char c : std::string("-0.50E+19")) EXPECT_TRUE(number.take(c));
  EXPECT_FALSE(number.take(','));
  EXPECT_TRUE(number.complete());
}

/// The string that begins behind `text`'s first mark, taken in pieces of `piece` bytes; nothing where `text` is not
/// just one string.
Json taken(const std::string& text, std::size_t piece) {
  JsonString string;
  std::string bytes;
  std::size_t at = 1;
  while (at < text.size() && !string.ended()) {
    const std::string_view next = std::string_view(text).substr(at, piece);
    std::string room(next.size() + JsonString::kMore, '#');
    const JsonString::Taken taken = string.take(next, room.data());
    if (!taken.fault.empty()) return nullptr;
    EXPECT_LE(taken.written, taken.read + JsonString::kMore);
    bytes.append(room, 0, taken.written);
    at += taken.read;
  }
  return string.ended() && at == text.size() ? Json(bytes) : Json();
}

TEST(JsonString, IsWhatParseJsonFindsInPiecesOfAnySize) {
  const std::vector<std::string> texts = {R"("")",
                                          R"("a plain text of more than a word")",
                                          R"("\"\\\/\b\f\n\r\t\u0000\u00e4\u4E2d\uffff")",
                                          "\"\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80\x7F\"",
                                          R"("\ud83d\ude00 \uD83D\uDE00\udbff\udfff\ud800\udc00\ud7ff\ue000")",
                                          R"("1234567\n12345678\n123456789\n\n")"};
  for (const std::string& text : texts) {
    ASSERT_TRUE(strict_value(text).is_string()) << text;
    for (std::size_t piece = 1; piece <= text.size(); ++piece)
      EXPECT_EQ(taken(text, piece), strict_value(text)) << text;
  }
}

TEST(JsonString, TakesWhatParseJsonTakesOfAnyEscapes) {
  int strings = 0;
  std::mt19937 random(7);
  const std::vector<std::string> parts = {"\\", "\\u", "u",  "d8", "dc",       "D9", "00",
                                          "e",  "n",   "\"", "\t", "12345678", "/"};
  for (int i = 0; i < 200'000; ++i) {
    std::string text = "\"";
    for (int n = 0; n < 7; ++n) text += parts[random() % parts.size()];
    text += '"';
    const Json expected = strict_value(text);
    EXPECT_EQ(taken(text, 1 + random() % 9), expected.is_string() ? expected : Json()) << text;
    strings += expected.is_string() ? 1 : 0;
  }
  EXPECT_GT(strings, 1000);
}

TEST(JsonString, NamesTheFaultAtItsByte) {
  const auto fault = [](const std::string& text) {
    JsonString string;
    std::string room(text.size() + JsonString::kMore, '#');
    const auto taken = string.take(text, room.data());
    return std::to_string(taken.read) + " " + std::string(taken.fault);
  };
  EXPECT_EQ(fault("abc\tdefghijk"),
            "3 a control character in a string, which JSON writes as \\n, \\t or \\u and four digits");
  EXPECT_EQ(fault(R"(ab\x)"), "3 no escape of JSON begins so");
  EXPECT_EQ(fault(R"(\u00g0)"), "4 \\u must be followed by four hexadecimal digits");
  EXPECT_EQ(fault(R"(\udc00)").substr(0, 19), "5 half of a charact");
  EXPECT_EQ(fault(R"(\ud800x)").substr(0, 19), "6 half of a charact");
  EXPECT_EQ(fault(R"(\ud800\n)").substr(0, 19), "7 half of a charact");
}

}  // namespace
}  // namespace chargpt
