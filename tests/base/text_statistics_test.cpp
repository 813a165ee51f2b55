#include "chargpt/base/text_statistics.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "chargpt/base/utf8.hpp"
#include "support/memory.hpp"
#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

Json statistics_of(const std::string& path, std::size_t remembered = kRemembered, const DataConfig& data = {}) {
  TextReader text(path, data);
  ThreadPool pool(2);
  return text_statistics(text, pool, {}, remembered);
}

/// Of texts as the files of a folder.
Json statistics(const std::vector<std::u32string>& texts, std::size_t remembered = kRemembered) {
  const TempDir dir;
  char name = 'a';
  for (const std::u32string& text : texts) dir.write(std::string(1, name++), encode_utf8(text));
  return statistics_of(dir.path(), remembered);
}

/// Code point to what is said about it.
std::map<std::string, Json> suspicious(const std::u32string& text) {
  std::map<std::string, Json> rows;
  const Json json = statistics({text});
  for (const Json& row : json["suspicious"]) rows[row["code_point"].get<std::string>()] = row;
  return rows;
}

TEST(TextStatistics, CountsWhatATextIsMadeOf) {
  const Json json = statistics({U"ab\nabc\n\u6F22", U"ab\n\n \n\n", U"ab\n\n \n\n"});
  EXPECT_EQ(json["bytes"], 10 + 7 + 7);
  EXPECT_EQ(json["characters"], 8 + 7 + 7);
  EXPECT_EQ(json["documents"], 3);
  EXPECT_EQ(json["lines"], 3 + 4 + 4);
  EXPECT_EQ(json["longest_line"], (Json{{"characters", 3}, {"document", 1}, {"line", 2}}));
  EXPECT_EQ(json["duplicate_lines"], 2);  // "ab" again, twice; blank lines do not count
  EXPECT_EQ(json["duplicate_documents"], 1);
  EXPECT_FALSE(json.contains("duplicate_lines_among"));
  EXPECT_FALSE(json.contains("duplicate_documents_among"));
  EXPECT_EQ(json["vocabulary_size"], 6);
  EXPECT_EQ(json["scripts"], (Json{{"Common", 12}, {"Han", 1}, {"Latin", 9}}));
  EXPECT_EQ(json["vocabulary"][2], (Json{{"char", "a"},
                                         {"code_point", "U+0061"},
                                         {"name", "LATIN SMALL LETTER A"},
                                         {"category", "Ll"},
                                         {"count", 4}}));
}

TEST(TextStatistics, FindsWhatIsSeldomMeant) {
  const auto rows = suspicious(U"x\ny\u0007\uFFFD\uFEFF\uE000\u202E\uFFFE\r\u00C3\u00B6");
  for (const auto& [code_point, why] : std::map<std::string, std::string>{{"U+0007", "control character"},
                                                                          {"U+FFFD", "could not be decoded"},
                                                                          {"U+FEFF", "byte order mark"},
                                                                          {"U+E000", "private use"},
                                                                          {"U+202E", "direction mark"},
                                                                          {"U+FFFE", "not assigned"},
                                                                          {"U+000D", "without a line feed"},
                                                                          {"U+00C3", "read as Latin-1"}}) {
    ASSERT_TRUE(rows.contains(code_point)) << code_point;
    EXPECT_NE(rows.at(code_point)["why"].get<std::string>().find(why), std::string::npos) << code_point;
    EXPECT_EQ(rows.at(code_point)["line"], 2);
    EXPECT_EQ(rows.at(code_point)["count"], 1);
  }
  EXPECT_EQ(rows.size(), 8U);
}

TEST(TextStatistics, DoesNotDependOnWhereBlocksAreCut) {
  constexpr std::size_t kBlock = 1 << 20;
  const TempDir dir;
  for (std::size_t before = kBlock - 3; before <= kBlock + 1; ++before) {
    const std::string line(before, 'x');
    dir.write("d", line + "\r\n" + line + "\r\n\r\u00C3\u00B6 \n" + line);
    const Json json = statistics_of(dir / "d");
    EXPECT_EQ(json["lines"], 4) << before;
    EXPECT_EQ(json["duplicate_lines"], 1) << before;  // the last has no carriage return
    EXPECT_EQ(json["longest_line"], (Json{{"characters", before + 1}, {"document", 1}, {"line", 1}}));
    ASSERT_EQ(json["suspicious"].size(), 2U) << before;
    EXPECT_EQ(json["suspicious"][0]["code_point"], "U+000D");
    EXPECT_EQ(json["suspicious"][0]["count"], 1) << before;
    EXPECT_EQ(json["suspicious"][0]["line"], 3);
    EXPECT_EQ(json["suspicious"][1]["code_point"], "U+00C3");
  }
}

TEST(TextStatistics, CountsWhatEndsWithABlockOnce) {
  const TempDir dir;
  std::string lines;
  for (int i = 0; i < 400'000; ++i) lines += "line " + std::to_string(i % 1000) + "\n";
  dir.write("d", lines);
  for (const DataFormat format : {DataFormat::text, DataFormat::lines}) {
    const Json json = statistics_of(dir / "d", kRemembered, {.format = format});
    EXPECT_EQ(json["lines"], 400'000);
    EXPECT_EQ(json["duplicate_lines"], 399'000);
    EXPECT_EQ(json["documents"], format == DataFormat::text ? 1 : 400'000);
    EXPECT_EQ(json["duplicate_documents"], format == DataFormat::text ? 0 : 399'000);
  }
}

TEST(TextStatistics, SaysWhereItStopsToRemember) {
  const Json json = statistics({U"a\nb\n\na\nc\na\n", U"a", U"b", U"a"}, 2);
  EXPECT_EQ(json["duplicate_lines"], 1);
  EXPECT_EQ(json["duplicate_lines_among"], 4);  // before c
  EXPECT_EQ(json["duplicate_documents"], 0);
  EXPECT_EQ(json["duplicate_documents_among"], 2);
  EXPECT_EQ(statistics({U"a\nb\n\na\nc\na\n"}, 3)["duplicate_lines"], 2);
}

TEST(TextStatistics, MemoryDoesNotGrowWithTheText) {
  const TempDir dir;
  std::string lines;
  for (int i = 0; lines.size() < 48 << 20; ++i) lines += "line " + std::to_string(i % 1000) + " of a long text\n";
  dir.write("d", lines);
  const std::int64_t growth = memory_growth([&] { statistics_of(dir / "d"); });
  EXPECT_GE(growth, 0);
  EXPECT_LT(growth, 64 << 20);  // the characters alone would take 192 MiB
}

TEST(TextStatistics, OrdinaryTextIsNotSuspicious) {
  EXPECT_TRUE(suspicious(U"a\tb\r\n\u00F6 \u00C3 o\u0308 \U0001F468\u200D\U0001F469 \u05E9\u05DC").empty());
}

TEST(TextStatistics, SoManyDifferentCharactersAreSuspicious) {
  std::u32string text;
  for (char32_t c = 0x10000; text.size() < 12'001; ++c) text.push_back(c);
  EXPECT_EQ(statistics({text})["suspiciously_many_characters"], true);
  text.pop_back();
  EXPECT_EQ(statistics({text})["suspiciously_many_characters"], false);
}

}  // namespace
}  // namespace chargpt
