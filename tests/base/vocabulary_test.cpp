#include "chargpt/base/vocabulary.hpp"

#include <gtest/gtest.h>

#include <string>

#include "chargpt/base/model_file.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

class VocabularyTest : public ::testing::Test {
 protected:
  VocabularyTest() {
    config_.model.context = 2;
    config_.data.val_fraction = 0;
  }
  void set_data(const std::string& contents) { config_.data.path = folder_.write("d.txt", contents); }
  Corpus load() const { return load_corpus(config_); }
  std::string text() const {
    const Corpus corpus = load();
    return corpus.tokenizer.decode(corpus.train.ids(0, corpus.train.size()));
  }
  TempDir folder_;
  Config config_;
};

TEST_F(VocabularyTest, CountsEveryCharacter) {
  CharacterCounts counts;
  counts.add(U"abcaa");
  EXPECT_EQ(counts.count(U'a'), 3U);
  EXPECT_EQ(counts.count(U'z'), 0U);
  EXPECT_EQ(counts.characters(), (std::set<char32_t>{U'a', U'b', U'c'}));
}

TEST_F(VocabularyTest, RareCharactersBecomeTheUnknownMark) {
  set_data("aaaabbbxyyy");
  config_.data.min_count = 2;
  EXPECT_EQ(load().tokenizer, Tokenizer({U'a', U'b', U'y'}, false, true));
  EXPECT_EQ(text(), "aaaabbb<|u|>yyy");
  config_.data.min_count = 9;
  expect_error(ExitCode::bad_data, {"none of its 4 different characters stands there 9 times", "data.min_count"},
               [&] { load(); });
}

TEST_F(VocabularyTest, TheMostFrequentCharactersStayAndOfEquallyFrequentOnesTheLower) {
  set_data("aaaabbbxyyy");
  config_.data.max_vocabulary = 2;
  EXPECT_EQ(load().tokenizer, Tokenizer({U'a', U'b'}, false, true));
}

TEST_F(VocabularyTest, MayBeThatOfAText) {
  set_data("abcabc");
  config_.data.vocabulary = folder_.write("v.txt", "cbaz");
  EXPECT_EQ(load().tokenizer, Tokenizer({U'a', U'b', U'c', U'z'}, false));
  folder_.write("v.txt", "ab");
  expect_error(ExitCode::bad_data, {"U+0063 'c'", "2 of 6 characters are unknown"}, [&] { load(); });
  config_.data.max_vocabulary = 1'000;  // more than there are: none is left out, but there is the unknown mark
  EXPECT_EQ(text(), "ab<|u|>ab<|u|>");
  config_.data.max_vocabulary = 1;
  EXPECT_EQ(text(), "a<|u|><|u|>a<|u|><|u|>");
  config_.data.max_vocabulary = 0;
  config_.data.min_count = 2;  // in the vocabulary's text
  folder_.write("v.txt", "abccb");
  EXPECT_EQ(text(), "<|u|>bc<|u|>bc");
}

TEST_F(VocabularyTest, MayBeThatOfDocuments) {
  config_.data.vocabulary = folder_.write("v.jsonl", "{\"text\": \"ab\"}\n");
  set_data("abab");
  EXPECT_EQ(load().tokenizer, Tokenizer({U'a', U'b'}, false));
  config_.data.format = DataFormat::lines;
  config_.data.vocabulary = folder_.write("v.txt", "a\nb\n");
  EXPECT_EQ(load().tokenizer, Tokenizer({U'a', U'b'}, true));
}

TEST_F(VocabularyTest, MayBeThatOfAModel) {
  const Tokenizer theirs({U'a', U'b', U'c', U'd'}, true, true);
  ModelConfig model;
  model.layers = 1, model.heads = 1, model.width = 2, model.context = 2;
  const std::vector<float> values(static_cast<std::size_t>(ParameterLayout(model, theirs.size()).size()));
  config_.data.vocabulary = folder_ / "m.safetensors";
  write_model_file(config_.data.vocabulary, model, theirs, values);
  set_data("abcxabc");
  EXPECT_EQ(load().tokenizer, theirs);
  EXPECT_EQ(text(), "abc<|u|>abc");
  config_.data.min_count = 2;
  expect_error(ExitCode::usage, {"m.safetensors is a model's, which is taken whole", "data.min_count (2)"},
               [&] { load(); });
}

}  // namespace
}  // namespace chargpt
