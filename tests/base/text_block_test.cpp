#include "chargpt/base/text_block.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chargpt/base/characters.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

std::vector<RawBlock> blocks_of(const std::string& text, DataFormat format, std::size_t size,
                                Normalization form = Normalization::none) {
  BlockCutter cutter(std::make_unique<TextSource>(text), format, {.normalize = form}, size, "d");
  std::vector<RawBlock> blocks;
  while (!cutter.ended()) blocks.push_back(cutter.next());
  return blocks;
}

/// Documents as they come out of blocks of `size` bytes.
std::vector<std::u32string> documents_of(const std::string& text, const DataConfig& data, std::size_t size) {
  std::vector<std::u32string> documents(1);
  TextBlock block;
  for (const RawBlock& raw : blocks_of(text, data.format, size, data.normalize)) {
    decode(raw, data.format, data.normalize, "d", block);
    for_each_stretch(block, [&](std::u32string_view characters, bool ended) {
      documents.back() += characters;
      if (ended) documents.emplace_back();
    });
  }
  EXPECT_TRUE(documents.back().empty());  // the last block ends the last document
  documents.pop_back();
  return documents;
}

const std::string kMixed =
    "ab\r\n\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80\r\r\n\n o\xCC\x88\xCC\xA3q\xCC\xA3\xCC\x87\n"
    "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"
    "a\xEA\x99\xAF\xCC\xA3\r";  // the last mark goes to the a

TEST(BlockCutter, GivesAllBytesInOrderAndOneLastBlock) {
  for (const DataFormat format : {DataFormat::text, DataFormat::lines, DataFormat::bytes}) {
    for (std::size_t size = 1; size <= kMixed.size() + 2; ++size) {
      const auto blocks = blocks_of(kMixed, format, size);
      std::string all;
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_EQ(blocks[i].place.offset, all.size());
        EXPECT_EQ(blocks[i].last, i + 1 == blocks.size());
        all += blocks[i].bytes;
      }
      EXPECT_EQ(all, kMixed) << name(format) << ' ' << size;
    }
  }
  EXPECT_EQ(blocks_of("", DataFormat::text, 8).size(), 1);
}

TEST(BlockCutter, HoldsNoMoreThanABlockAndWhatBelongsTogether) {
  std::string emoji, korean, thai;
  for (int i = 0; i < 40; ++i) {
    emoji += "\xF0\x9F\x98\x80";
    korean += "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB";            // in parts, of which the first begins a syllable
    thai += "\xE0\xB8\x81\xE0\xB8\xB3\xE0\xB8\xB5\xE0\xB9\x89";  // a consonant and three marks
  }
  const std::string ascii(100, 'a'), escapes = R"({"n": 1, "text": ")" + ascii + R"(\u1112\u1161\u11ab\ud83d\ude00"})";
  for (const Normalization form : {Normalization::none, Normalization::nfc, Normalization::nfkc}) {
    for (const std::string& text : {ascii, emoji, korean, thai}) {
      for (const RawBlock& block : blocks_of(text, DataFormat::text, 16, form)) EXPECT_LE(block.bytes.size(), 16 + 15);
    }
    for (const RawBlock& block : blocks_of(escapes, DataFormat::jsonl, 16, form))
      EXPECT_LE(block.bytes.size(), 16 + 12);
  }
}

TEST(BlockCutter, RefusesMarksWithoutEnd) {
  std::string marks = "a";
  while (marks.size() < (std::size_t{1} << 18)) marks += "\xCC\x81";
  const std::size_t size = 1 << 15;
  const auto jsonl = [](const std::string& text) { return R"({"text": ")" + text + "\"}"; };
  EXPECT_FALSE(blocks_of(marks, DataFormat::text, size, Normalization::nfc).empty());
  EXPECT_FALSE(blocks_of(marks + marks, DataFormat::text, size).empty());
  for (const std::string& more : {marks + marks.substr(1), marks + marks.substr(1) + "b"}) {
    for (const DataFormat format : {DataFormat::text, DataFormat::lines, DataFormat::jsonl}) {
      const std::string text = format == DataFormat::jsonl ? jsonl(more) : more;
      expect_error(ExitCode::bad_data, {"d: more than 262144 bytes of nothing but combining marks", "data.normalize"},
                   [&] { blocks_of(text, format, size, Normalization::nfc); });
    }
  }
  expect_error(ExitCode::bad_data, {"not valid UTF-8 at byte offset 0"}, [&] {
    blocks_of(std::string(std::size_t{1} << 19, '\x80'), DataFormat::text, size, Normalization::nfc);
  });
}

TEST(BlockCutter, KnowsTheLineAndColumnOfABlock) {
  const auto blocks = blocks_of("ab\n\xC3\xA4\xC3\xA4\xC3\xA4", DataFormat::text, 5);
  ASSERT_GE(blocks.size(), 2);
  EXPECT_EQ(blocks[1].place.offset, 5);
  EXPECT_EQ(blocks[1].place.line, 2);
  EXPECT_EQ(blocks[1].place.column, 2);
}

TEST(Decode, DoesNotDependOnWhereBlocksAreCut) {
  for (const DataFormat format : {DataFormat::text, DataFormat::lines, DataFormat::bytes}) {
    for (const Normalization form : {Normalization::none, Normalization::nfc, Normalization::nfkc}) {
      if (format == DataFormat::bytes && form != Normalization::none) continue;
      const DataConfig data{.format = format, .normalize = form};
      const auto whole = documents_of(kMixed, data, 1000);
      for (std::size_t size = 1; size <= kMixed.size(); ++size) {
        EXPECT_EQ(documents_of(kMixed, data, size), whole) << name(format) << ' ' << name(form) << ' ' << size;
      }
      if (format == DataFormat::text) {
        EXPECT_EQ(whole, std::vector{text_characters(kMixed, form, "d")});
      }
    }
  }
}

TEST(Decode, LinesEndWithLineFeedOrBothButNoneIsPartOfThem) {
  const std::vector<std::u32string> lines = {U"a\rb", U"", U"c\r", U"", U"d"};
  for (std::size_t size = 1; size < 20; ++size) {
    EXPECT_EQ(documents_of("a\rb\r\n\nc\r\r\n\r\nd\r", {.format = DataFormat::lines}, size), lines) << size;
  }
}

TEST(Decode, JsonlIsCutAnywhere) {
  const std::string text = "{\"text\": \"one\"}\n\n{\"text\": \"two\\n\"}\r\n{\"text\": \"\"}\n{\"text\": \"three\"}";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(documents_of(text, {.format = DataFormat::jsonl}, size),
              (std::vector<std::u32string>{U"one", U"two\n", U"", U"three"}));
  }
}

TEST(Decode, EachDocumentOfJsonlIsNormalisedByItself) {
  const std::string text =
      "{\"text\": \"o\"}\n{\"text\": \"\\u0308o\xCC\x88\\ud83d\\ude00\xEA\xB0\x80\\u11ab\"}\n{\"text\": "
      "\"\xCC\x88\"}\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(documents_of(text, {.format = DataFormat::jsonl, .normalize = Normalization::nfc}, size),
              (std::vector<std::u32string>{U"o", U"\u0308\u00F6\U0001F600\uAC04", U"\u0308"}))
        << size;
  }
}

TEST(Decode, AFaultIsNamedByItsPlaceInTheFile) {
  const std::string text = "ab\n\xC3\xA4\xC3\xA4 \x92 and more";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    expect_error(ExitCode::bad_data, {"d: not valid UTF-8 at byte offset 8 (line 2, column 4): 0x92"},
                 [&] { documents_of(text, {.format = DataFormat::text}, size); });
  }
  for (const std::size_t size : {1, 10, 100}) {
    expect_error(ExitCode::bad_data, {"d, line 3: no field \"text\""},
                 [&] { documents_of("{\"text\": \"a\"}\n\n{\"t\": 1}\n", {.format = DataFormat::jsonl}, size); });
  }
}

TEST(Decode, OnlyTheFilesFirstByteOrderMarkIsDropped) {
  const std::string mark = "\xEF\xBB\xBF";
  for (std::size_t size = 1; size <= 8; ++size) {
    EXPECT_EQ(documents_of(mark + "a" + mark, {.format = DataFormat::text}, size),
              std::vector<std::u32string>{U"a\uFEFF"});
  }
}

}  // namespace
}  // namespace chargpt
