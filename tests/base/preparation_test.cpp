#include "chargpt/base/preparation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "chargpt/base/random.hpp"
#include "chargpt/base/utf8.hpp"
#include "support/read_documents.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

using Ids = std::vector<std::int32_t>;

/// What load_corpus() says of a part, done over all documents at once.
class ByHand {
 public:
  explicit ByHand(const DataConfig& data) : data_(data), documents_(read_documents(data.path, data)) {}

  std::map<char32_t, std::int32_t> vocabulary() const {
    std::map<char32_t, std::int32_t> ids;
    for (const auto& text : documents_.texts) {
      for (const char32_t c : text) ids[c] = 0;
    }
    std::int32_t next = documents_.end_mark ? 1 : 0;
    for (auto& [c, id] : ids) id = next++;
    return ids;
  }

  std::vector<Ids> part(Part wanted) const {
    return documents_.end_mark || data_.split == SplitMethod::document ? dealt(wanted) : cut(wanted);
  }

 private:
  std::vector<Ids> dealt(Part wanted) const {
    const std::size_t n = documents_.texts.size();
    const auto share = [n](double fraction) {
      return fraction == 0 ? 0 : std::max(std::size_t{1}, static_cast<std::size_t>(fraction * static_cast<double>(n)));
    };
    const std::size_t val_end = n - share(data_.test_fraction), train_end = val_end - share(data_.val_fraction);
    const Permutation rank(n, static_cast<std::uint64_t>(data_.split_seed), Purpose::split, 0);
    std::vector<Ids> part;
    for (std::size_t d = 0; d < n; ++d) {
      const Part here = rank(d) < train_end ? Part::train : rank(d) < val_end ? Part::val : Part::test;
      if (here == wanted) part.push_back(encode(documents_.texts[d], part.empty()));
    }
    return part;
  }

  std::vector<Ids> cut(Part wanted) const {
    std::size_t n = 0, at = 0;
    for (const auto& text : documents_.texts) n += text.size();
    const auto floor_of = [n](double x) { return static_cast<std::size_t>(std::floor(x * static_cast<double>(n))); };
    const std::size_t val_end = floor_of(1 - data_.test_fraction);
    const std::size_t train_end = floor_of(1 - data_.val_fraction - data_.test_fraction);
    std::vector<Ids> part;
    for (const auto& text : documents_.texts) {
      std::u32string here;
      for (const char32_t c : text) {
        const Part p = at < train_end ? Part::train : at < val_end ? Part::val : Part::test;
        if (p == wanted) here += c;
        ++at;
      }
      if (!here.empty()) part.push_back(encode(here, false));
    }
    return part;
  }

  Ids encode(const std::u32string& text, bool first) const {
    const bool crosses = data_.cross_documents != CrossDocuments::no;
    Ids encoded;
    if (data_.format == DataFormat::lines && (first || !crosses)) encoded.push_back(0);
    for (const char32_t c : text) encoded.push_back(vocabulary_.at(c));
    if (documents_.end_mark) encoded.push_back(0);
    return encoded;
  }

  DataConfig data_;
  ReadDocuments documents_;
  std::map<char32_t, std::int32_t> vocabulary_ = vocabulary();
};

/// Words of all lengths of UTF-8, in lines.
std::string some_text(std::uint64_t seed, int words) {
  constexpr std::array kWords = {"ab", "c", "\xC3\xA4", "\xE6\xBC\xA2\xE5\xAD\x97", "\xF0\x9F\x98\x80",
                                 "\n", " ", "o\xCC\x88"};
  std::string text;
  for (int i = 0; i < words; ++i)
    text += kWords[random_below(seed, Purpose::split, 0, static_cast<std::uint64_t>(i), kWords.size())];
  return text;
}

class PreparationTest : public testing::Test {
 protected:
  PreparationTest() {
    config_.model.context = 1;
    config_.data.test_fraction = 0.15;
    config_.data.cache = "off";
  }

  static std::vector<Ids> documents_of(const Split& split) {
    std::vector<Ids> documents;
    for (std::int64_t d = 0; d < split.documents(); ++d) documents.push_back(split.document(d));
    return documents;
  }

  /// In memory, prepared into a file, and read from that file again.
  void expect_as_by_hand(const std::string& what) {
    const ByHand by_hand(config_.data);
    for (const std::string& cache : {std::string("off"), folder_ / "cache", folder_ / "cache"}) {
      config_.data.cache = cache;
      const Corpus corpus = load_corpus(config_);
      EXPECT_EQ(corpus.file.empty(), cache == "off");
      for (const Part part : {Part::train, Part::val, Part::test}) {
        EXPECT_TRUE(documents_of(corpus.part(part)) == by_hand.part(part)) << what << ' ' << name(part) << ' ' << cache;
      }
    }
  }

  TempDir folder_;
  Config config_;
};

TEST_F(PreparationTest, GivesTheIdsOfABruteForceEncoder) {
  for (const int words : {40, 3'000, 700'000}) {  // the last one takes several blocks
    config_.data.path = folder_.write("d.txt", some_text(1, words));
    for (const DataFormat format : {DataFormat::text, DataFormat::lines}) {
      config_.data.format = format;
      for (const CrossDocuments cross : {CrossDocuments::automatic, CrossDocuments::no}) {
        config_.data.cross_documents = cross;
        expect_as_by_hand(std::string(name(format)) + ' ' + std::to_string(words));
      }
    }
    config_.data.cross_documents = CrossDocuments::automatic;
  }
}

TEST_F(PreparationTest, GivesTheIdsOfABruteForceEncoderForSeveralTexts) {
  std::filesystem::create_directory(folder_ / "t");
  for (int file = 0; file < 9; ++file) folder_.write("t/" + std::to_string(file), some_text(2 + file, 400 * file));
  config_.data.path = folder_ / "t";
  for (const SplitMethod split : {SplitMethod::automatic, SplitMethod::document}) {
    config_.data.split = split;
    expect_as_by_hand(std::string(name(split)));
  }
}

TEST_F(PreparationTest, DoesNotDependOnTheThreads) {
  config_.data.path = folder_.write("d.txt", some_text(3, 3'000'000));
  config_.run.threads = 1;
  const Corpus one = load_corpus(config_);
  config_.run.threads = 3;
  const Corpus three = load_corpus(config_);
  EXPECT_EQ(one.fingerprint, three.fingerprint);
  EXPECT_EQ(one.tokenizer, three.tokenizer);
  EXPECT_TRUE(documents_of(one.train) == documents_of(three.train));
}

TEST_F(PreparationTest, ManySymbolsTakeWiderIds) {
  std::u32string all;
  for (char32_t c = 0x4E00; all.size() < 70'000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all += c;
  }
  config_.data.path = folder_.write("d.txt", encode_utf8(all));
  expect_as_by_hand("70,000 symbols");
}

TEST_F(PreparationTest, TellsHowItGoesInBothPassesAndCanBeStopped) {
  config_.data.path = folder_.write("d.txt", some_text(3, 1'500'000));
  const auto size = std::filesystem::file_size(config_.data.path);
  std::vector<PreparationState> told;
  PreparationEvents events;
  events.progress = [&](const PreparationState& state) { told.push_back(state); };
  config_.run.threads = 1;
  load_corpus(config_, events);
  ASSERT_GE(told.size(), 4);
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].text, config_.data.path);
    EXPECT_EQ(told[i].total, 2 * size);
    EXPECT_GE(told[i].done, i == 0 ? 1 : told[i - 1].done);
  }
  EXPECT_EQ(told.back().done, 2 * size);
  events.stopped = [asked = 0]() mutable { return ++asked == 3; };
  EXPECT_THROW(load_corpus(config_, events), Interrupted);
}

TEST_F(PreparationTest, ATextThatChangesMeanwhileIsRefused) {
  const std::string text = "ab" + some_text(3, 100'000) + "cc";
  config_.data.path = folder_.write("d.txt", text);
  const auto when_half_done = [&](const std::function<void()>& act) {
    PreparationEvents events;
    events.progress = [done = false, act](const PreparationState& state) mutable {
      if (!done && 2 * state.done >= state.total) act();
      done = done || 2 * state.done >= state.total;
    };
    return events;
  };
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "\nab";
  for (const std::string& cache : {std::string("off"), folder_ / "cache"}) {
    config_.data.cache = cache;
    for (const DataFormat format : {DataFormat::text, DataFormat::lines}) {
      config_.data.format = format;
      for (const std::string& other :
           {text + "ab", text.substr(0, text.size() - 2), "c" + text.substr(1), text + "\x7F", text + lines}) {
        folder_.write("d.txt", text);
        expect_error(ExitCode::bad_data, {"d.txt changed while it was read"},
                     [&] { load_corpus(config_, when_half_done([&] { folder_.write("d.txt", other); })); });
      }
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "cache"));
}

TEST_F(PreparationTest, AnUnknownCharacterIsNamedWhereverItStands) {
  config_.data.path = folder_.write("d.txt", std::string(3'000'000, 'a') + "\nab" + std::string(10, 'a'));
  expect_error(ExitCode::bad_data,
               {"d.txt: character U+0062 'b' at position 3000002 (line 2)", "1 of 3000013 characters are unknown"},
               [&] {
                 load_corpus(config_, Tokenizer({U'\n', U'a'}, false));
               });
}

}  // namespace
}  // namespace chargpt
