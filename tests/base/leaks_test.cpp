#include "chargpt/base/leaks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chargpt {
namespace {

const std::string kLong(kLongLine, 'a');

/// A split of these documents, with end marks.
Split split_of(const std::vector<std::string>& texts, const Tokenizer& tokenizer) {
  std::vector<std::int32_t> all;
  Offsets documents;
  for (const std::string& text : texts) {
    const auto ids = tokenizer.encode(tokenizer.characters(text, "t"), "t");
    all.insert(all.end(), ids.begin(), ids.end());
    all.push_back(Tokenizer::end_mark_id());
    documents.add(std::ssize(ids) + 1);
  }
  return {all, documents};
}

std::vector<Leak> leaks_of(const std::vector<std::string>& train, const std::vector<std::string>& val,
                           const std::vector<std::string>& test = {}) {
  const Tokenizer tokenizer({U'\n', U'a', U'b', U'c', U'\u00F6'}, true);
  return find_leaks({tokenizer, split_of(train, tokenizer), split_of(val, tokenizer), split_of(test, tokenizer), {}});
}

TEST(Leaks, PartsWithNothingInCommonHaveNone) {
  EXPECT_TRUE(leaks_of({"a", "ab"}, {"b", "ba"}, {"abc"}).empty());
  EXPECT_TRUE(leaks_of({"a", "a"}, {"b", "b"}).empty());  // twice in one part is no leak
}

TEST(Leaks, ADocumentInTwoPartsIsOne) {
  const auto leaks = leaks_of({"a", "b\u00F6", "c"}, {"b\u00F6", "bb", "c"}, {"bb"});
  ASSERT_EQ(leaks.size(), 2U);
  EXPECT_EQ(leaks[0].piece, Piece::document);
  EXPECT_EQ(leaks[0].from, Part::train);
  EXPECT_EQ(leaks[0].to, Part::val);
  EXPECT_EQ(leaks[0].count, 2);
  EXPECT_EQ(leaks[0].example, "b\u00F6<|e|>");
  EXPECT_EQ(leaks[1].from, Part::val);
  EXPECT_EQ(leaks[1].to, Part::test);
}

TEST(Leaks, ALongLineInTwoPartsIsOne) {
  const auto leaks = leaks_of({"c\n" + kLong + "\nb"}, {"cc\n" + kLong});
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0].piece, Piece::line);
  EXPECT_EQ(leaks[0].count, 1);
  EXPECT_EQ(leaks[0].example, kLong);
}

TEST(Leaks, AShortLineMayStandInTwoParts) {
  EXPECT_TRUE(leaks_of({"c\n" + kLong.substr(1) + "\nb"}, {"cc\n" + kLong.substr(1)}).empty());
}

TEST(Leaks, AMarkAtTheBeginningMakesNoOtherDocument) {
  const Tokenizer tokenizer({U'a', U'b'}, true);
  const Split train({0, 1, 2, 0, 1, 0}, {4, 2}),
      val(std::vector<std::int32_t>{0, 1, 0}, {3});  // <|e|>ab<|e|>, a<|e|>; <|e|>a<|e|>
  const auto leaks = find_leaks({tokenizer, train, val, {}, {}});
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0].example, "a<|e|>");
}

TEST(Leaks, ALineIsTheSameWhateverEndsIt) {
  const Tokenizer tokenizer({U'\n', U'\r', U'a', U'b'}, true);
  const Split train = split_of({kLong + "\r\nb"}, tokenizer), val = split_of({"b\n" + kLong + "\nb"}, tokenizer);
  const auto leaks = find_leaks({tokenizer, train, val, {}, {}});
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0].piece, Piece::line);
  EXPECT_EQ(leaks[0].example, kLong);
  const Split shorter = split_of({kLong.substr(1) + "\r\nb"}, tokenizer);
  EXPECT_EQ(find_leaks({tokenizer, shorter, shorter, {}, {}}).size(), 1U);  // the document, no line
}

TEST(Leaks, AnUnknownCharacterIsNoEndOfALine) {
  const Tokenizer tokenizer({U'a', U'b'}, true, true);
  const Split train = split_of({kLong + "xa"}, tokenizer), val = split_of({kLong + "xb"}, tokenizer);
  EXPECT_TRUE(find_leaks({tokenizer, train, val, {}, {}}).empty());
}

TEST(Leaks, AnEndMarkOrANewlineBehindALineIsTheSame) {
  EXPECT_EQ(leaks_of({kLong + "\nb"}, {"c\n" + kLong + "\n"}).size(), 1U);
}

TEST(Leaks, AreTheSameWhenFewPiecesAreHeldAtATime) {
  const Tokenizer tokenizer({U'\n', U'a', U'b', U'c'}, true);
  std::vector<std::string> train, val;
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int n = 0; n < 8; ++n) text += static_cast<char>('a' + (i >> n) % 2);
    (i % 3 == 0 ? val : train).push_back(text + (i % 6 == 0 ? "\n" + kLong + text : ""));
    if (i % 5 == 0) train.push_back(text);
    if (i % 7 == 0) train.push_back("c\n" + kLong + text);
  }
  const Corpus corpus{tokenizer, split_of(train, tokenizer), split_of(val, tokenizer), {}, {}};
  const auto leaks = find_leaks(corpus);
  ASSERT_EQ(leaks.size(), 2U);
  for (const std::int64_t held : {1, 2, 10, 66, 67}) {
    const auto again = find_leaks(corpus, held);
    ASSERT_EQ(again.size(), leaks.size());
    for (std::size_t i = 0; i < leaks.size(); ++i) {
      EXPECT_EQ(again[i].piece, leaks[i].piece);
      EXPECT_EQ(again[i].count, leaks[i].count);
      EXPECT_EQ(again[i].example, leaks[i].example);
    }
  }
}

}  // namespace
}  // namespace chargpt
