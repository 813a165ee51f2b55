#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/corpus_support.hpp"

namespace chargpt {
namespace {

/// Corpora whose ids are kept in a folder.
class CachedCorpusTest : public LoadCorpusTest {
 protected:
  CachedCorpusTest() {
    config_.data.cache = folder_ / "cache";
    set_data("d.txt", "abcdefghijklmnopqrst");
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_ / "cache"), {}));
  }
};

TEST_F(CachedCorpusTest, IsReadAgainAsItWasPrepared) {
  const Corpus prepared = load(), again = load();
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(again.file, prepared.file);
  EXPECT_EQ(again.tokenizer, prepared.tokenizer);
  EXPECT_EQ(again.fingerprint, prepared.fingerprint);
  EXPECT_EQ(documents_of(again.train, again.tokenizer), std::vector<std::string>{"abcdefghijklmnopqr"});
  config_.data.cache = "off";
  EXPECT_EQ(load().fingerprint, prepared.fingerprint);
}

TEST_F(CachedCorpusTest, IsNotKeptAmongTheTexts) {
  std::filesystem::create_directory(folder_ / "t");
  folder_.write("t/d.txt", "abcdefghijklmnopqrst");
  config_.data.path = folder_ / "t";
  for (const char* within : {"t", "t/cache", "t/../t/a/b"}) {
    config_.data.cache = folder_ / within;
    expect_error(ExitCode::usage, {"data.cache", "lies among the texts", "outside"}, [&] { load(); });
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "t"), {}), 1);
  for (const char* outside : {"tt", "t/.cache"}) {  // hidden files are no texts
    config_.data.cache = folder_ / outside;
    EXPECT_NO_THROW(load());
    EXPECT_NO_THROW(load());
  }
  folder_.write("t/e.txt", "abcdefghijklmnopqrst");
  config_.data.path = folder_ / "t/*";
  config_.data.cache = folder_ / "t";
  expect_error(ExitCode::usage, {"data.cache", "lies among the texts"}, [&] { load(); });
}

TEST_F(CachedCorpusTest, IsPreparedAnewForAllThatItsIdsDependOn) {
  std::size_t prepared = 0;
  const auto expect_new = [&](const char* what) {
    load();
    EXPECT_EQ(files(), ++prepared) << what;
    load();
    EXPECT_EQ(files(), prepared) << what;
  };
  expect_new("the first");
  config_.data.val_fraction = 0.2;
  expect_new("val_fraction");
  config_.data.test_fraction = 0.2;
  expect_new("test_fraction");
  config_.data.min_count = 1;
  config_.data.max_vocabulary = 5;
  expect_new("max_vocabulary");
  config_.data.normalize = Normalization::nfc;
  expect_new("normalize");
  config_.data.encoding = "ISO-8859-1";
  expect_new("encoding");
  config_.data.vocabulary = folder_.write("v.txt", "abc");
  expect_new("vocabulary");
  folder_.write("v.txt", "abcd");
  expect_new("the vocabulary's text");
  config_.data.val_path = folder_.write("val.txt", "abcabc");
  expect_new("val_path");
  folder_.write("val.txt", "abcab");
  expect_new("the validation text's size");
  config_.data.test_fraction = 0.0;
  config_.data.format = DataFormat::lines;
  expect_new("format");
  config_.model.context = 2;
  config_.data.stride = 3;
  config_.data.windows = WindowOrder::shuffled;
  load();
  EXPECT_EQ(files(), prepared) << "none of these changes ids";
}

TEST_F(CachedCorpusTest, ATextOfTheSameSizeAndTimeIsNotTakenForTheOther) {
  const Corpus before = load();
  const auto time = std::filesystem::last_write_time(folder_ / "d.txt");
  set_data("d.txt", "tsrqponmlkjihgfedcba");
  std::filesystem::last_write_time(folder_ / "d.txt", time);
  EXPECT_NE(load().fingerprint, before.fingerprint);
  EXPECT_EQ(documents(Part::val), std::vector<std::string>{"ba"});
}

TEST_F(CachedCorpusTest, ServesTheModelThatWasTrainedOnIt) {
  const Corpus trained = load();
  EXPECT_EQ(load_corpus(config_, trained.tokenizer).file, trained.file);
  const Tokenizer larger({U'0', U'a', U'b', U'c', U'd', U'e', U'f', U'g', U'h', U'i', U'j',
                          U'k', U'l', U'm', U'n', U'o', U'p', U'q', U'r', U's', U't'},
                         false);
  const Corpus other = load_corpus(config_, larger);
  EXPECT_NE(other.file, trained.file);
  EXPECT_EQ(documents_of(other.train, larger), std::vector<std::string>{"abcdefghijklmnopqr"});
}

TEST_F(CachedCorpusTest, OfBytesIsReadAgain) {
  config_.data.format = DataFormat::bytes;
  load();
  EXPECT_EQ(documents(Part::val), std::vector<std::string>{"st"});
}

TEST_F(CachedCorpusTest, IsCheckedAgainstTheContextEachTime) {
  load();
  config_.model.context = 18;
  expect_refused({"d.txt: the train part has 18 characters, but a window needs 19"});
}

}  // namespace
}  // namespace chargpt
