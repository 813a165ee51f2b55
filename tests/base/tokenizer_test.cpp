#include "chargpt/base/tokenizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "chargpt/base/error.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

/// Message of the error that `action` must end in.
std::string refusal(ExitCode code, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

Tokenizer tokenizer_of(std::u32string_view text, bool end_mark = false) {
  return {std::set<char32_t>(text.begin(), text.end()), end_mark};
}

std::string encode_refusal(const Tokenizer& tokenizer, std::u32string_view text) {
  return refusal(ExitCode::bad_data, [&] { tokenizer.encode(text, "the prompt"); });
}

void expect_vocabulary_refused(const std::string& json, const std::string& part) {
  const Json vocabulary = parse_json(json, {.source = "test"});
  const auto message = refusal(ExitCode::unusable_model, [&] { Tokenizer::from_json(vocabulary, "m.safetensors"); });
  expect_contains(message, "m.safetensors: ");
  expect_contains(message, part);
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
  const std::u32string text = U"Test \U0001F600! \u00F6 o\u0308 \u6F22\u5B57\n\t\0end";
  const auto tokenizer = tokenizer_of(text);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, "t")), encode_utf8(text));
}

TEST(Tokenizer, ACharacterOutsideTheVocabularyHasNoId) {
  const auto tokenizer = tokenizer_of(U"ac");
  EXPECT_EQ(tokenizer.id(U'b'), -1);           // between known ones
  EXPECT_EQ(tokenizer.id(U'\U0010FFFF'), -1);  // beyond the last
}

TEST(Tokenizer, AnUnknownCharacterIsNamedWithItsPlaceAndTheCountOfAll) {
  const auto message = encode_refusal(tokenizer_of(U"ab\n"), U"ab\nb\u00F6xab\u00F6");
  expect_contains(message, "the prompt: character U+00F6 '\u00F6' at position 4 (line 2)");
  expect_contains(message, "vocabulary of 3");
  expect_contains(message, "3 of 9 characters are unknown: U+00F6 '\u00F6', U+0078 'x';");
}

TEST(Tokenizer, OnlyTheFirstFewUnknownCharactersAreListed) {
  const auto message = encode_refusal(tokenizer_of(U"a"), U"abcdefghijk");
  expect_contains(message, "U+0066 'f';");
  EXPECT_EQ(message.find("U+0067"), std::string::npos) << message;
}

TEST(Tokenizer, AnUnknownCombiningMarkBringsAdviceToNormalise) {
  const auto tokenizer = tokenizer_of(U"o\u00F6");
  expect_contains(encode_refusal(tokenizer, U"o\u0308"), "U+0308 (combining marks: the text may need NFC");
  EXPECT_EQ(encode_refusal(tokenizer, U"x").find("NFC"), std::string::npos);
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

TEST(Tokenizer, RefusesTheEndMarkAnywhereButFirst) {
  expect_vocabulary_refused(R"(["a", "<|e|>"])", "end mark, which may stand at entry 0 only");
  expect_vocabulary_refused(R"(["<|e|>", "<|e|>", "a"])", "entry 1");
}

}  // namespace
}  // namespace chargpt
