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
  BlockCutter cutter(std::make_unique<TextSource>(text), format, form, size, "d");
  std::vector<RawBlock> blocks;
  while (!cutter.ended()) blocks.push_back(cutter.next());
  return blocks;
}

/// Documents as they come out of blocks of `size` bytes.
std::vector<std::u32string> documents_of(const std::string& text, const DataConfig& data, std::size_t size) {
  std::vector<std::u32string> documents(1);
  JsonFieldReader fields;
  TextBlock block;
  for (const RawBlock& raw : blocks_of(text, data.format, size, data.normalize)) {
    decode(raw, data.format, data, "d", fields, block);
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
  for (const DataFormat format : {DataFormat::text, DataFormat::lines, DataFormat::jsonl, DataFormat::bytes}) {
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

TEST(BlockCutter, CutsOnlyWhatIsLongerThanABlock) {
  const auto blocks = blocks_of(std::string(100, 'a'), DataFormat::text, 8);
  for (const RawBlock& block : blocks) EXPECT_LE(block.bytes.size(), 8);
  std::string poem;
  for (int i = 0; i < 40; ++i) poem += "\xE6\x98\xA5\xE3\x80\x82";  // an ideograph and a mark that is none
  for (const RawBlock& block : blocks_of(poem, DataFormat::text, 16, Normalization::nfkc)) {
    EXPECT_LE(block.bytes.size(), 16);
  }
  const auto lines = blocks_of("a\n" + std::string(100, 'b') + "\nc\nd\n", DataFormat::jsonl, 8);
  for (const RawBlock& block : lines) EXPECT_TRUE(block.bytes.empty() || block.bytes.ends_with('\n'));
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

TEST(Decode, JsonlIsCutAtLines) {
  const std::string text = "{\"text\": \"one\"}\n\n{\"text\": \"two\\n\"}\r\n{\"text\": \"\"}\n{\"text\": \"three\"}";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(documents_of(text, {.format = DataFormat::jsonl}, size),
              (std::vector<std::u32string>{U"one", U"two\n", U"", U"three"}));
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
