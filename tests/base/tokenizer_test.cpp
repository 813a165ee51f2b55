#include "chargpt/base/tokenizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "chargpt/base/utf8.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

Tokenizer tokenizer_of(std::u32string_view text, bool end_mark = false) {
  return {std::set<char32_t>(text.begin(), text.end()), end_mark};
}

void expect_refused(const Tokenizer& tokenizer, std::u32string_view text, std::initializer_list<std::string> parts) {
  expect_error(ExitCode::bad_data, parts, [&] { tokenizer.encode(text, "the prompt"); });
}

void expect_vocabulary_refused(const std::string& json, const std::string& part) {
  const Json vocabulary = parse_json(json, {.source = "test"});
  expect_error(ExitCode::unusable_model, {"m.safetensors: ", part},
               [&] { Tokenizer::from_json(vocabulary, "m.safetensors"); });
}

TEST(Tokenizer, NumbersCharactersInOrderOfCodePoint) {
  const auto tokenizer = tokenizer_of(U"b\U0001F600\u6F22a\n");
  EXPECT_EQ(tokenizer.size(), 5);
  EXPECT_FALSE(tokenizer.has_end_mark());
  EXPECT_EQ(tokenizer.encode(U"\nab\u6F22\U0001F600", "t"), (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
}

TEST(Tokenizer, TheEndMarkIsIdZeroBeforeAllCharacters) {
  const auto tokenizer = tokenizer_of(U"ab", true);
  EXPECT_EQ(tokenizer.size(), 3);
  EXPECT_TRUE(tokenizer.has_end_mark());
  EXPECT_EQ(tokenizer.symbol(Tokenizer::end_mark_id()), "<|e|>");
  EXPECT_EQ(tokenizer.id(U'a'), 1);
}

TEST(Tokenizer, TheSpellingOfTheEndMarkInATextIsOrdinaryCharacters) {
  const std::u32string text = U"a<|e|>b";
  const auto ids = tokenizer_of(text, true).encode(text, "t");
  EXPECT_EQ(ids.size(), text.size());
  EXPECT_EQ(std::count(ids.begin(), ids.end(), Tokenizer::end_mark_id()), 0);
}

TEST(Tokenizer, DecodingGivesTheEncodedTextBack) {
  using std::literals::operator""s;  // its NUL is no end
  const std::u32string text = U"Test \U0001F600! \u00F6 o\u0308 \u6F22\u5B57\n\t\0end"s;
  const auto tokenizer = tokenizer_of(text);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, "t")), encode_utf8(text));
  EXPECT_EQ(tokenizer.size(), 17);
}

TEST(Tokenizer, ACharacterOutsideTheVocabularyHasNoId) {
  const auto tokenizer = tokenizer_of(U"ac");
  EXPECT_EQ(tokenizer.id(U'b'), -1);           // between known ones
  EXPECT_EQ(tokenizer.id(U'\U0010FFFF'), -1);  // beyond the last
}

TEST(Tokenizer, AnUnknownCharacterIsNamedWithItsPlaceAndTheCountOfAll) {
  expect_refused(tokenizer_of(U"ab\n"), U"ab\nb\u00F6xab\u00F6",
                 {"the prompt: character U+00F6 '\u00F6' at position 4 (line 2)", "vocabulary of 3",
                  "3 of 9 characters are unknown: U+00F6 '\u00F6', U+0078 'x'; leave"});
}

TEST(Tokenizer, OnlyTheFirstFewUnknownCharactersAreListed) {
  expect_refused(tokenizer_of(U"a"), U"abcdefghijk", {"10 of 11", "unknown: U+0062 'b',", "U+0066 'f'; leave"});
}

TEST(Tokenizer, AnUnknownCombiningMarkBringsAdviceToNormalise) {
  const auto tokenizer = tokenizer_of(U"o\u00F6");
  expect_refused(tokenizer, U"o\u0308", {"U+0308 (combining marks: the text may need NFC"});
  expect_refused(tokenizer, U"x", {"unknown: U+0078 'x'; leave"});
}

TEST(Tokenizer, ItsJsonGivesTheSameTokenizerBack) {
  for (const bool end_mark : {false, true}) {
    const auto tokenizer = tokenizer_of(U"\"\\\n\u0001a\u00F6\u6F22\U0001F600", end_mark);
    const auto text = to_json_line(tokenizer.to_json());
    const auto again = Tokenizer::from_json(parse_json(text, {.source = "test"}), "test");
    EXPECT_EQ(again, tokenizer);
    EXPECT_EQ(again.has_end_mark(), end_mark);
    EXPECT_EQ(again.id(U'\U0001F600'), tokenizer.id(U'\U0001F600'));
  }
}

TEST(Tokenizer, RefusesAVocabularyThatIsNoArrayOfStrings) {
  expect_vocabulary_refused(R"({"a": 0})", "the vocabulary is a JSON object");
  expect_vocabulary_refused(R"(["a", 7])", "vocabulary entry 1, 7, is not a string");
}

TEST(Tokenizer, RefusesAVocabularyWithoutCharacters) {
  expect_vocabulary_refused("[]", "is empty");
  expect_vocabulary_refused(R"(["<|e|>"])", "is empty");
}

TEST(Tokenizer, RefusesEntriesThatAreNotOneCharacter) {
  expect_vocabulary_refused(R"(["a", "bc"])", "entry 1, \"bc\", has 2 characters");
  expect_vocabulary_refused(R"(["a", ""])", "entry 1, \"\", has 0 characters");
}

TEST(Tokenizer, RefusesDuplicatesAndDisorder) {
  expect_vocabulary_refused(R"(["a", "a"])", "entry 1, \"a\", stands twice");
  expect_vocabulary_refused(R"(["a", "c", "b"])", "entry 2, \"b\", is out of order");
}

TEST(Tokenizer, TheUnknownMarkStandsForEveryOtherCharacter) {
  for (const bool end_mark : {false, true}) {
    const Tokenizer tokenizer({U'a', U'b'}, end_mark, true);
    const std::int32_t mark = tokenizer.unknown_mark_id();
    EXPECT_EQ(mark, end_mark ? 1 : 0);
    EXPECT_EQ(tokenizer.symbol(mark), "<|u|>");
    EXPECT_TRUE(tokenizer.is_mark(mark));
    EXPECT_FALSE(tokenizer.is_mark(mark + 1));
    EXPECT_EQ(tokenizer.encode(U"xb\U0010FFFF", "t"), (std::vector<std::int32_t>{mark, mark + 2, mark}));
    const auto again = Tokenizer::from_json(parse_json(to_json_line(tokenizer.to_json()), {.source = "t"}), "t");
    EXPECT_EQ(again, tokenizer);
    EXPECT_EQ(again.id(U'x'), mark);
  }
}

TEST(Tokenizer, OfBytesGivesEveryByteBack) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  EXPECT_EQ(tokenizer.size(), 256);
  EXPECT_TRUE(tokenizer.is_bytes());
  std::string all;
  for (int byte = 255; byte >= 0; --byte) all.push_back(static_cast<char>(byte));
  const auto ids = tokenizer.encode(tokenizer.characters(all, "t"), "t");
  EXPECT_EQ(ids.front(), 255);
  EXPECT_EQ(ids.back(), 0);
  EXPECT_EQ(tokenizer.decode(ids), all);
  EXPECT_EQ(tokenizer.as_utf8("a\xF6"), "a\xC3\xB6");
  EXPECT_NE(tokenizer, Tokenizer::from_json(Json::array({"a"}), "t"));
}

TEST(Tokenizer, ReadsATextAsItsOwnTextWasRead) {
  const std::string text = "\xEF\xBB\xBFo\xCC\x88\r\n";
  EXPECT_EQ(tokenizer_of(U"o").characters(text, "t"), U"o\u0308\r\n");
  EXPECT_EQ(Tokenizer({U'o'}, false, false, Normalization::nfc).characters(text, "t"), U"\u00F6\r\n");
  EXPECT_EQ(Tokenizer::bytes().characters("\xEF\xBB\xBF", "t"), U"\u00EF\u00BB\u00BF");
  expect_error(ExitCode::bad_data, {"the prompt: not valid UTF-8"},
               [] { tokenizer_of(U"a").characters("\xFF", "the prompt"); });
}

TEST(Tokenizer, RefusesTheUnknownMarkAnywhereButBehindTheEndMark) {
  expect_vocabulary_refused(R"(["a", "<|u|>"])", "unknown mark");
  expect_vocabulary_refused(R"(["<|u|>", "<|e|>", "a"])", "entry 1");
  expect_vocabulary_refused(R"(["<|e|>", "<|u|>"])", "is empty");
}

TEST(Tokenizer, RefusesTheEndMarkAnywhereButFirst) {
  expect_vocabulary_refused(R"(["a", "<|e|>"])", "end mark, which may stand at entry 0 only");
  expect_vocabulary_refused(R"(["<|e|>", "<|e|>", "a"])", "entry 1");
}

}  // namespace
}  // namespace chargpt
