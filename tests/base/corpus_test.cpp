#include "chargpt/base/corpus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/corpus_support.hpp"
#include "chargpt/base/random.hpp"
#include "chargpt/base/windows.hpp"

namespace chargpt {
namespace {

TEST_F(LoadCorpusTest, ATextIsCutInFileOrder) {
  config_.data.test_fraction = 0.2;
  set_data("d.txt", "abcdefghijklmnopqrst");
  EXPECT_EQ(documents(Part::train), std::vector<std::string>{"abcdefghijklmn"});
  EXPECT_EQ(documents(Part::val), std::vector<std::string>{"op"});
  EXPECT_EQ(documents(Part::test), std::vector<std::string>{"qrst"});
}

TEST_F(LoadCorpusTest, WithoutFractionsThereIsOnlyTraining) {
  config_.data.val_fraction = 0;
  set_data("d.txt", "abcdef");
  const Corpus corpus = load();
  EXPECT_EQ(corpus.train.size(), 6);
  EXPECT_EQ(corpus.val.documents(), 0);
  EXPECT_EQ(corpus.test.documents(), 0);
}

TEST_F(LoadCorpusTest, TheVocabularyHasTheCharactersOfAllParts) {
  set_data("d.txt", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabz");
  EXPECT_EQ(load().tokenizer, Tokenizer({U'a', U'b', U'z'}, false));
  config_.data.val_path = folder_.write("v.jsonl", jsonl({"\xC3\xB6"}));
  config_.data.test_path = folder_.write("t.txt", "xy");
  EXPECT_EQ(load().tokenizer, Tokenizer({U'a', U'b', U'x', U'y', U'z', U'\u00F6'}, true));
}

TEST_F(LoadCorpusTest, AFileOfItsOwnReplacesAFraction) {
  config_.data.test_fraction = 0.1;
  set_data("d.txt", "abcdefghij");
  config_.data.val_path = folder_.write("v.txt", "jihg");
  config_.data.test_path = folder_.write("t.txt", "aa");
  EXPECT_EQ(documents(Part::train), std::vector<std::string>{"abcdefghij"});
  EXPECT_EQ(documents(Part::val), std::vector<std::string>{"jihg"});
  EXPECT_EQ(documents(Part::test), std::vector<std::string>{"aa"});
}

TEST_F(LoadCorpusTest, DocumentsAreDealtWholeAndEachToOnePart) {
  config_.data.test_fraction = 0.25;
  set_data("d.jsonl", jsonl(numbered_texts(42)));
  auto dealt = documents(Part::train);
  const auto val = documents(Part::val);
  const auto test = documents(Part::test);
  EXPECT_EQ(val.size(), 4);    // floor(4.2)
  EXPECT_EQ(test.size(), 10);  // floor(10.5)
  dealt.insert(dealt.end(), val.begin(), val.end());
  dealt.insert(dealt.end(), test.begin(), test.end());
  std::sort(dealt.begin(), dealt.end());
  auto expected = numbered_texts(42);
  for (auto& text : expected) text += "<|e|>";
  EXPECT_EQ(dealt, expected);
}

TEST_F(LoadCorpusTest, DocumentsAreDealtBySeed) {
  set_data("d.jsonl", jsonl(numbered_texts(100)));
  const auto val = documents(Part::val);
  EXPECT_EQ(documents(Part::val), val);
  config_.data.split_seed = 2;
  EXPECT_NE(documents(Part::val), val);
  config_.data.split = SplitMethod::contiguous;
  EXPECT_EQ(documents(Part::val).front(), "doc-1090<|e|>");
}

TEST_F(LoadCorpusTest, TheTestPartStaysWhenTheValidationPartGrows) {
  config_.data.test_fraction = 0.1;
  set_data("d.jsonl", jsonl(numbered_texts(100)));
  const auto test = documents(Part::test);
  config_.data.val_fraction = 0.4;
  EXPECT_EQ(documents(Part::test), test);
}

TEST_F(LoadCorpusTest, AFractionOfFewDocumentsIsAtLeastOne) {
  config_.data.test_fraction = 0.01;
  set_data("d.jsonl", jsonl(numbered_texts(5)));
  EXPECT_EQ(documents(Part::train).size(), 3);
  EXPECT_EQ(documents(Part::val).size(), 1);
  EXPECT_EQ(documents(Part::test).size(), 1);
}

TEST_F(LoadCorpusTest, AnEmojiIsOneSymbol) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "Test \xF0\x9F\x98\x80!";
  set_data("d.txt", text);
  const Corpus corpus = load();
  EXPECT_EQ(corpus.tokenizer.size(), 7);
  EXPECT_GE(corpus.tokenizer.id(U'\U0001F600'), 0);
  EXPECT_EQ(corpus.train.size() + corpus.val.size(), 3500);
}

TEST_F(LoadCorpusTest, TheFingerprintFollowsEveryFile) {
  config_.data.val_fraction = 0;
  set_data("d.txt", "abcdefghij");
  const auto one = load().fingerprint;
  EXPECT_EQ(one.bytes, 10);
  EXPECT_EQ(load().fingerprint, one);
  config_.data.val_path = folder_.write("v.txt", "abc");
  const auto two = load().fingerprint;
  EXPECT_EQ(two.bytes, 13);
  EXPECT_NE(two.hash, one.hash);
  folder_.write("v.txt", "abd");
  EXPECT_NE(load().fingerprint, two);
  folder_.write("v.txt", "abc");
  std::swap(config_.data.val_path, config_.data.test_path);
  EXPECT_NE(load().fingerprint.hash, two.hash);
}

TEST_F(LoadCorpusTest, ATextShorterThanAWindowSaysWhatWouldFit) {
  config_.model.context = 16;
  set_data("d.txt", "abcdefghij");
  expect_refused({"d.txt: the train part has 9 characters, but a window needs 17 (model.context 16 + 1)",
                  "--set model.context=8", "data.val_fraction 0.1"});
  config_.model.context = 8;
  config_.data.val_fraction = 0;
  EXPECT_EQ(load().train.size(), 10);
}

TEST_F(LoadCorpusTest, ATextOfExactlyOneWindowTrains) {
  config_.data.val_fraction = 0;
  set_data("d.txt", "abcde");
  EXPECT_EQ(load().train.size(), 5);
  set_data("d.txt", "abcd");
  expect_refused({"the train part has 4 characters, but a window needs 5"});
}

TEST_F(LoadCorpusTest, DocumentsShorterThanAWindowNameTheLongest) {
  config_.model.context = 64;
  set_data("d.jsonl", jsonl(numbered_texts(10)));
  expect_refused({"the train part has 9 characters with its end mark in the longest of its documents (9)",
                  "--set model.context=8"});
}

TEST_F(LoadCorpusTest, OneDocumentLeavesNothingToTrainOn) {
  set_data("d.jsonl", jsonl({"a document of its own"}));
  expect_refused({"the train part has no document"});
}

TEST_F(LoadCorpusTest, AValidationPartTooSmallToScoreSaysHowToDoWithout) {
  set_data("d.txt", "abcdefghij");
  expect_refused({"d.txt: the val part has 1 character, but scoring needs 2", "raise data.val_fraction (0.1)",
                  "--set data.val_fraction=0"});
  config_.data.val_fraction = 0.2;
  EXPECT_EQ(load().val.size(), 2);
}

TEST_F(LoadCorpusTest, ATestPartTooSmallToScoreIsNamed) {
  config_.data.val_fraction = 0;
  config_.data.test_fraction = 0.1;
  set_data("d.txt", "abcdefghij");
  expect_refused({"--set data.test_fraction=0"});
  config_.data.test_fraction = 0;
  config_.data.test_path = folder_.write("t.txt", "a");
  expect_refused({"t.txt: the test part has 1 character, but scoring needs 2"});
  expect_refused({"leave out data.test_path"});
}

TEST_F(LoadCorpusTest, AModelsVocabularyRefusesOtherCharacters) {
  set_data("d.txt", "abcabcabcabc\nabcabcabcxyz");
  const auto load_with = [&](const Tokenizer& tokenizer) { return load_corpus(config_, tokenizer); };
  expect_error(ExitCode::bad_data,
               {"d.txt: character U+0078 'x' at position 22 (line 2)", "3 of 25 characters are unknown"}, [&] {
                 load_with({{U'\n', U'a', U'b', U'c'}, false});
               });
  const Tokenizer larger({U'\n', U'a', U'b', U'c', U'd', U'x', U'y', U'z'}, true);
  EXPECT_EQ(load_with(larger).tokenizer, larger);
}

TEST_F(LoadCorpusTest, AModelWithoutEndMarkRefusesDocuments) {
  set_data("d.jsonl", jsonl({"abcde", "abcde", "abcde"}));
  const Tokenizer tokenizer({U'a', U'b', U'c', U'd', U'e'}, false);
  expect_error(ExitCode::bad_data, {"<|e|>, which the vocabulary lacks"}, [&] { load_corpus(config_, tokenizer); });
}

TEST_F(LoadCorpusTest, TheLecturesWindowsAreThoseOfABruteForceCutOfTheDocuments) {
  std::vector<std::string> texts;
  std::set<char> characters;
  for (std::uint64_t d = 0; d < 60; ++d) {
    texts.emplace_back();
    for (std::uint64_t i = 0; i <= random_below(1, Purpose::split, 0, d, 15); ++i) {
      texts.back() += static_cast<char>('a' + random_below(1, Purpose::split, 1 + d, i, 20));
      characters.insert(texts.back().back());
    }
  }
  std::int64_t windows = 0;
  for (const std::string& text : texts) {
    const std::string marked = text + "$";
    for (std::size_t begin = 0; begin < marked.size(); ++begin) {
      windows += marked.substr(begin, 5).size() == 5 ? 1 : 0;  // T + 1 = 5 ids
    }
  }
  config_.data.val_fraction = 0;
  set_data("d.jsonl", jsonl(texts));
  const Corpus corpus = load();
  EXPECT_EQ(WindowIndex(corpus.train, config_.model.context, 1).size(), windows);
  EXPECT_EQ(corpus.tokenizer.size(), static_cast<std::int64_t>(characters.size()) + 1);
}

TEST_F(LoadCorpusTest, ValidationByWholeWindowsNeedsOne) {
  config_.data.val_fraction = 0.2;
  set_data("d.txt", "abcdefghijklmnopqrst");  // 4 characters to validate
  load();
  config_.eval.mode = EvalMode::random;
  expect_refused({"the val part has 4 characters, but scoring needs 5"});
  config_.eval.mode = EvalMode::windows;
  config_.eval.stride = 1;
  expect_refused({"the val part has 4 characters, but scoring needs 5"});
  config_.eval.mode = EvalMode::sliding;
  load();
}

TEST_F(LoadCorpusTest, AnUnknownCharacterNamesItsDocument) {
  set_data("d.jsonl", jsonl({"aaaaaa", "aaaaaa", "aabaaa"}));
  expect_error(ExitCode::bad_data, {"d.jsonl, document 3: character U+0062 'b' at position 2"},
               [&] { load_corpus(config_, Tokenizer({U'a'}, true)); });
}

TEST_F(LoadCorpusTest, BytesHaveTheirOwnVocabulary) {
  config_.data.format = DataFormat::bytes;
  set_data("d.bin", std::string("ab\0\xFF\x92 abcdefgh\xC3\xB6\r\n", 18));
  const Corpus corpus = load();
  EXPECT_TRUE(corpus.tokenizer.is_bytes());
  EXPECT_EQ(corpus.tokenizer.decode(corpus.train.document(0)) + corpus.tokenizer.decode(corpus.val.document(0)),
            std::string("ab\0\xFF\x92 abcdefgh\xC3\xB6\r\n", 18));
  const Tokenizer letters({U'a'}, false);
  expect_error(ExitCode::usage, {"vocabulary is of characters, but data.format = bytes"},
               [&] { load_corpus(config_, letters); });
  config_.data.format = DataFormat::text;
  expect_error(ExitCode::usage, {"vocabulary is of bytes"}, [&] { load_corpus(config_, Tokenizer::bytes()); });
}

TEST_F(LoadCorpusTest, SeveralTextsAreCutAtCharactersAndWindowsStayInside) {
  config_.data.test_fraction = 0.2;
  std::filesystem::create_directories(folder_ / "t");
  folder_.write("t/1.txt", "abcdefgh");
  folder_.write("t/2.txt", "ijklmnopqrst");
  config_.data.path = folder_ / "t";
  EXPECT_EQ(documents(Part::train), (std::vector<std::string>{"abcdefgh", "ijklmn"}));
  EXPECT_EQ(documents(Part::val), std::vector<std::string>{"op"});
  EXPECT_EQ(documents(Part::test), std::vector<std::string>{"qrst"});
}

TEST_F(LoadCorpusTest, OneTextIsNotSplitByDocument) {
  set_data("d.txt", "abcdefghijklmnopqrst");
  for (const SplitMethod method : {SplitMethod::document, SplitMethod::hashed}) {
    config_.data.split = method;
    expect_error(ExitCode::usage, {"data.split = " + std::string(name(method)), "d.txt is one text", "contiguous"},
                 [&] { load(); });
  }
}

TEST_F(LoadCorpusTest, AHashedDocumentKeepsItsPartWhenOthersComeAndGo) {
  config_.data.split = SplitMethod::hashed;
  config_.data.test_fraction = 0.2;
  config_.data.val_fraction = 0.2;
  const auto parts_of = [&](const std::vector<std::string>& texts) {
    set_data("d.jsonl", jsonl(texts));
    std::map<std::string, Part> parts;
    for (const Part part : {Part::train, Part::val, Part::test}) {
      for (const std::string& text : documents(part)) parts[text] = part;
    }
    return parts;
  };
  const auto all = parts_of(numbered_texts(400));
  auto few = numbered_texts(300);
  std::reverse(few.begin(), few.end());
  for (const auto& [text, part] : parts_of(few)) EXPECT_EQ(all.at(text), part) << text;
  std::map<Part, int> sizes;
  for (const auto& [text, part] : all) ++sizes[part];
  EXPECT_NEAR(sizes[Part::test], 80, 5 * 8);  // five standard deviations of 400 draws at 0.2
  EXPECT_NEAR(sizes[Part::val], 80, 5 * 8);
  config_.data.split_seed = 2;
  EXPECT_NE(parts_of(numbered_texts(400)), all);
}

TEST_F(LoadCorpusTest, ShortLinesAreUsableSinceWindowsCrossThem) {
  config_.data.format = DataFormat::lines;
  config_.model.context = 16;
  config_.data.val_fraction = 0;
  set_data("names.txt", "emma\nava\nmia\nzoe\n");
  const Corpus corpus = load();
  EXPECT_EQ(documents_of(corpus.train, corpus.tokenizer),
            (std::vector<std::string>{"<|e|>emma<|e|>", "ava<|e|>", "mia<|e|>", "zoe<|e|>"}));
  EXPECT_EQ(WindowIndex(corpus.train, 16, 1).size(), 18 - 16);
  config_.data.cross_documents = CrossDocuments::no;
  expect_refused({"names.txt: the train part has 6 characters with its end mark in the longest of its documents (4)"});
  config_.model.context = 5;
  EXPECT_EQ(WindowIndex(load().train, 5, 1).size(), 1);
}

TEST_F(LoadCorpusTest, JsonlCrossesDocumentsWhereThatIsAsked) {
  config_.data.val_fraction = 0;
  set_data("d.jsonl", jsonl({"abc", "de"}));
  config_.data.cross_documents = CrossDocuments::yes;
  const Corpus corpus = load();
  EXPECT_EQ(documents(Part::train), (std::vector<std::string>{"abc<|e|>", "de<|e|>"}));
  EXPECT_EQ(WindowIndex(corpus.train, 4, 1).size(), 3);
}

TEST(Part, HasTheNamesOfTheCommandLine) {
  EXPECT_EQ(name(Part::train), "train");
  EXPECT_EQ(name(Part::val), "val");
  EXPECT_EQ(name(Part::test), "test");
}

}  // namespace
}  // namespace chargpt
