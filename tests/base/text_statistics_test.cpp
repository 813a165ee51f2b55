#include "chargpt/base/text_statistics.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace chargpt {
namespace {

Json statistics(std::vector<std::u32string> texts) {
  return text_statistics({std::move(texts), false, "d.txt", 9, "hash"});
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
  EXPECT_EQ(json["path"], "d.txt");
  EXPECT_EQ(json["characters"], 8 + 7 + 7);
  EXPECT_EQ(json["documents"], 3);
  EXPECT_EQ(json["lines"], 3 + 4 + 4);
  EXPECT_EQ(json["longest_line"], (Json{{"characters", 3}, {"document", 1}, {"line", 2}}));
  EXPECT_EQ(json["duplicate_lines"], 2);  // "ab" again, twice; blank lines do not count
  EXPECT_EQ(json["duplicate_documents"], 1);
  EXPECT_EQ(json["vocabulary_size"], 6);
  EXPECT_EQ(json["scripts"], (Json{{"Common", 12}, {"Han", 1}, {"Latin", 9}}));
  EXPECT_EQ(json["vocabulary"][2], (Json{{"char", "a"}, {"code_point", "U+0061"}, {"category", "Ll"}, {"count", 4}}));
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
