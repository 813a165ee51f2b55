#include "chargpt/base/scored_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chargpt/base/random.hpp"
#include "chargpt/base/utf8.hpp"
#include "support/read_documents.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

Documents documents_of(std::vector<std::u32string> texts, bool end_mark = false) {
  return {std::move(texts), end_mark, "d.txt"};
}

/// The documents of a split as text, the end mark spelled out.
std::vector<std::string> texts_of(const Split& split, const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (std::int64_t d = 0; d < split.documents(); ++d) texts.push_back(tokenizer.decode(split.document(d)));
  return texts;
}

TEST(EncodeForScoring, LeavesOutAndListsUnknownCharacters) {
  const Tokenizer tokenizer({U'a', U'b'}, false);
  const ScoredText scored = encode_for_scoring(documents_of({U"abxa", U"yy", U"x\u0308"}), tokenizer);
  EXPECT_EQ(texts_of(scored.split, tokenizer), (std::vector<std::string>{"aba", "", ""}));
  std::u32string unknown;
  for (const UnknownCharacter& character : scored.unknown) unknown += character.code_point;
  EXPECT_EQ(unknown, U"xyyx\u0308");
  EXPECT_TRUE(scored.describe_unknown().starts_with(
      "5 characters of d.txt are not in the vocabulary: U+0078 'x', U+0079 'y', U+0308"))
      << scored.describe_unknown();
}

TEST(EncodeForScoring, EndsDocumentsWhereTheModelHasAnEndMark) {
  const Tokenizer with({U'a', U'b'}, true);
  const Tokenizer without({U'a', U'b'}, false);
  const Documents marked = documents_of({U"ab", U"a"}, true), plain = documents_of({U"ab", U"a"});
  EXPECT_EQ(texts_of(encode_for_scoring(marked, with).split, with), (std::vector<std::string>{"ab<|e|>", "a<|e|>"}));
  EXPECT_EQ(texts_of(encode_for_scoring(marked, without).split, without), (std::vector<std::string>{"ab", "a"}));
  EXPECT_EQ(texts_of(encode_for_scoring(plain, with).split, with), (std::vector<std::string>{"ab", "a"}));
}

TEST(EncodeForScoring, LinesBeginWithTheMarkThatEndsTheLineBefore) {
  const Tokenizer tokenizer({U'a', U'b'}, true);
  const Documents lines = documents_of({U"ab", U"a"}, true);
  const ScoredText packed = encode_for_scoring(lines, tokenizer, {.format = DataFormat::lines});
  EXPECT_EQ(texts_of(packed.split, tokenizer), (std::vector<std::string>{"<|e|>ab<|e|>", "a<|e|>"}));
  EXPECT_EQ(packed.split.stretches(), 1);
  const ScoredText apart =
      encode_for_scoring(lines, tokenizer, {.format = DataFormat::lines, .cross_documents = CrossDocuments::no});
  EXPECT_EQ(texts_of(apart.split, tokenizer), (std::vector<std::string>{"<|e|>ab<|e|>", "<|e|>a<|e|>"}));
  EXPECT_EQ(apart.split.stretches(), 2);
}

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

/// What is scored of a file, read in blocks.
ScoredText read(const std::string& path, const Tokenizer& tokenizer, const DataConfig& data,
                std::int64_t available = kPlenty) {
  TextReader text(path, data);
  return read_for_scoring(text, tokenizer, data, 2, {}, [&] { return available; });
}

void expect_equal(const ScoredText& scored, const ScoredText& wanted) {
  EXPECT_EQ(scored.split.ids(0, scored.split.size()), wanted.split.ids(0, wanted.split.size()));
  ASSERT_EQ(scored.split.documents(), wanted.split.documents());
  for (std::int64_t d = 0; d < wanted.split.documents(); ++d) ASSERT_EQ(scored.split.start(d), wanted.split.start(d));
  EXPECT_EQ(scored.split.stretches(), wanted.split.stretches());
  EXPECT_EQ(scored.begin_marks, wanted.begin_marks);
  EXPECT_EQ(scored.source, wanted.source);
  ASSERT_EQ(scored.unknown.size(), wanted.unknown.size());
  for (std::size_t i = 0; i < wanted.unknown.size(); ++i) {
    ASSERT_EQ(scored.unknown[i].document, wanted.unknown[i].document);
    ASSERT_EQ(scored.unknown[i].index, wanted.unknown[i].index);
    ASSERT_EQ(scored.unknown[i].code_point, wanted.unknown[i].code_point);
  }
}

TEST(ReadForScoring, GivesWhatEncodingAllDocumentsAtOnceDoes) {
  const TempDir dir;
  std::string text;
  for (int i = 0; text.size() < 3 << 19; ++i) text += i % 100 == 0 ? "x\u00F6b\n" : i % 7 == 0 ? "abba" : "ab\n";
  const std::string path = dir.write("d", text);
  for (const bool end_mark : {true, false}) {
    const Tokenizer tokenizer({U'\n', U'a', U'b', U'\u00F6'}, end_mark);
    for (const DataFormat format : {DataFormat::text, DataFormat::lines}) {
      for (const CrossDocuments cross : {CrossDocuments::automatic, CrossDocuments::yes, CrossDocuments::no}) {
        const DataConfig data = {.format = format, .cross_documents = cross};
        expect_equal(read(path, tokenizer, data), encode_for_scoring(read_documents(path, data), tokenizer, data));
      }
    }
  }
}

TEST(ReadForScoring, WhatDoesNotFitIntoMemoryIsRefused) {
  const TempDir dir;
  const std::string path = dir.write("d", std::string(3 << 20, 'a') + "xx");
  const Tokenizer tokenizer({U'a'}, false);
  constexpr std::int64_t kNeeded = 4 * (3 << 20) + 2 * 24 + 2 * 4 + 8;
  EXPECT_EQ(read(path, tokenizer, {}, kNeeded).split.size(), 3 << 20);
  EXPECT_EQ(read(path, tokenizer, {}, kNeeded).unknown.capacity(), 2);
  expect_error(ExitCode::out_of_memory, {path, "take 13 MiB, but 12 MiB are free"},
               [&] { read(path, tokenizer, {}, kNeeded - 1); });
}

TEST(ReadForScoring, ALargeTextLiesInAFileWithoutAName) {
  const TempDir dir;
  const Tokenizer tokenizer({U'a', U'b'}, true);
  std::string lines;
  for (int i = 0; lines.size() < (20 << 20); ++i)
    lines += std::string(40 + i % 7, "ab"[i % 2]) + (i % 999 ? "\n" : "x\n");
  const std::string path = dir.write("d.txt", lines), cache = dir / "cache";
  for (const CrossDocuments cross : {CrossDocuments::yes, CrossDocuments::no}) {
    DataConfig data{.format = DataFormat::lines, .cross_documents = cross, .cache = "off"};
    const ScoredText in_memory = read(path, tokenizer, data);
    data.cache = cache;
    const ScoredText in_file = read(path, tokenizer, data, 1 << 20);  // the ids would take 80 MiB
    expect_equal(in_file, in_memory);
    EXPECT_EQ(in_file.unknown.capacity(), in_file.unknown.size());  // memory was asked for just these
    EXPECT_TRUE(names_in(cache).empty());
  }
}

TEST(ReadForScoring, AsksForFreeMemoryBetweenTheReadings) {
  const TempDir dir;
  const Tokenizer tokenizer({U'a'}, false);
  TextReader text(dir.write("d", std::string(3 << 20, 'a')), {});
  std::uint64_t done = 0;
  PreparationEvents events;
  events.progress = [&](const PreparationState& state) { done = state.done; };
  std::vector<std::uint64_t> when_asked;
  read_for_scoring(text, tokenizer, {}, 2, events, [&] {
    when_asked.push_back(done);
    return kPlenty;
  });
  EXPECT_EQ(when_asked, (std::vector<std::uint64_t>{3 << 20}));
}

TEST(ReadForScoring, ATextThatChangesBetweenTheReadingsIsRefused) {
  const TempDir dir;
  const Tokenizer tokenizer({U'a', U'b'}, false);
  for (const char* const other : {"abba", "ababa", "aba", "abax"}) {
    const std::string path = dir.write("d.txt", "abab");
    TextReader text(path, {});
    const auto change = [&] {
      dir.write("d.txt", other);
      return kPlenty;
    };
    expect_error(ExitCode::bad_data, {path + " changed while it was read"},
                 [&] { read_for_scoring(text, tokenizer, {}, 2, {}, change); });
  }
}

/// Up to six documents of up to nine characters of "abcx"; the x are not in the vocabulary.
std::vector<std::u32string> random_texts(std::uint64_t seed) {
  std::vector<std::u32string> texts(1 + random_below(seed, Purpose::split, 0, 0, 6));
  for (std::size_t d = 0; d < texts.size(); ++d) {
    for (std::uint64_t i = 0; i < random_below(seed, Purpose::split, 1, d, 10); ++i) {
      texts[d] += U"abcx"[random_below(seed, Purpose::split, 2 + d, i, 4)];
    }
  }
  return texts;
}

TEST(ScoredText, EveryIdAndUnknownCharacterHasItsPlaceInTheText) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const bool end_mark = seed % 2 == 0;
    const auto texts = random_texts(seed);
    const Tokenizer tokenizer({U'a', U'b', U'c'}, end_mark);
    const DataConfig data = {.format = seed % 3 == 0 ? DataFormat::lines : DataFormat::text,
                             .cross_documents = seed % 4 < 2 ? CrossDocuments::yes : CrossDocuments::no};
    const ScoredText scored = encode_for_scoring(documents_of(texts, end_mark), tokenizer, data);
    std::vector<std::u32string> rebuilt(texts.size());
    for (std::size_t d = 0; d < texts.size(); ++d) rebuilt[d].assign(texts[d].size(), U'?');
    const auto put = [&](const Place& place, char32_t code_point) {
      auto& text = rebuilt.at(static_cast<std::size_t>(place.document));
      text.at(static_cast<std::size_t>(place.offset)) = code_point;
    };
    for (std::int64_t i = 0; i < scored.split.size(); ++i) {
      const Place place = scored.place(i);
      const std::int32_t id = scored.split.ids(i, i + 1)[0];
      if (place.offset < 0) continue;  // a mark before the first character, which is never scored
      if (end_mark && id == Tokenizer::end_mark_id()) {
        EXPECT_EQ(place.offset, static_cast<std::int64_t>(texts.at(static_cast<std::size_t>(place.document)).size()));
      } else {
        put(place, decode_utf8(tokenizer.symbol(id), "symbol")[0]);
      }
    }
    for (const UnknownCharacter& character : scored.unknown) put(scored.place(character), character.code_point);
    ASSERT_EQ(rebuilt, texts) << "seed " << seed;
  }
}

}  // namespace
}  // namespace chargpt
