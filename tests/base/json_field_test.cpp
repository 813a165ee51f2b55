#include "chargpt/base/json_field.hpp"

#include <gtest/gtest.h>

#include <string>

#include "chargpt/base/error.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {
namespace {

/// What parse_json() finds; nothing where it refuses the text or finds no string.
std::optional<std::string> by_parse_json(const std::string& text) {
  try {
    const Json record = parse_json(text, {.source = "d"});
    if (!record.is_object() || !record.contains("text") || !record["text"].is_string()) return std::nullopt;
    return record["text"].get<std::string>();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> by_reader(JsonFieldReader& reader, const std::string& text) {
  const auto found = reader.string(text, "text");
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

std::string nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(JsonFieldReader, FindsWhatParseJsonFinds) {
  JsonFieldReader reader;
  for (const std::string text : {
           R"({"text": "a"})",
           R"( {"n":1,"text":"","more":[1,2.5,-3e7,true,false,null,{"text":"inner"}]} )"
           "\r",
           R"({"text": "\"\\\/\b\f\n\r\t\u0000\u00e4\u4e2d\uffff"})",
           "{\"text\": \"\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80\"}",
           R"({"text": "\ud55c\uad6d \uD7A3"})",
           R"({"te\u0078t": "a"})",
           R"({"a": {"x": 1}, "b": {"x": 1}, "text": "c"})",
       }) {
    ASSERT_TRUE(by_parse_json(text)) << text;
    EXPECT_EQ(by_reader(reader, text), by_parse_json(text)) << text;
  }
  const std::string large = R"({"text": ")" + std::string(300'000, 'x') + R"("})";
  EXPECT_EQ(by_reader(reader, large), by_parse_json(large));
}

TEST(JsonFieldReader, LeavesToParseJsonWhatItRefuses) {
  JsonFieldReader reader;
  std::string many = R"({"text": "a", "n": [0)";
  for (std::size_t i = 0; i < JsonRules().max_values; ++i) many += ",0";
  for (const std::string& text : std::vector<std::string>{"",
                                                          " ",
                                                          "[1]",
                                                          "7",
                                                          R"("text")",
                                                          R"({"text": 7})",
                                                          R"({"body": "a"})",
                                                          R"({"text": "a")",
                                                          R"({"text": "a"}})",
                                                          R"({"text": "a"} {})",
                                                          R"({"text": "a",})",
                                                          R"({'text': "a"})",
                                                          R"({"text": "a", "text": "a"})",
                                                          R"({"text": "a", "b": {"x": 1, "x": 1}})",
                                                          R"({"text": "a", "b": [[{"x": 1, "\u0078": 1}]]})",
                                                          R"({"text": "a", "n": 01})",
                                                          R"({"text": "a", "n": 1e999})",
                                                          R"({"text": "a", "n": 1.})",
                                                          R"({"text": "\ud800"})",
                                                          R"({"text": "a", "b": "\udc00"})",
                                                          R"({"text": "a", "b": "\uDC00"})",
                                                          R"({"text": "a", "b": "\uD800\ud800"})",
                                                          "{\"text\": \"a\nb\"}",
                                                          "{\"text\": \"a\tb\"}",
                                                          "{\"text\": \"\xFF\"}",
                                                          "{\"text\": \"\xED\xB0\x80\"}",
                                                          std::string("{\"text\": \"a\"}\0", 14),
                                                          R"({"text": "a", "b": )" + nested(64) + "}",
                                                          many + "]}"}) {
    EXPECT_FALSE(by_parse_json(text)) << text.substr(0, 100);
    EXPECT_FALSE(by_reader(reader, text)) << text.substr(0, 100);
  }
}

TEST(JsonFieldReader, LeavesToParseJsonWhatIsUnusual) {
  JsonFieldReader reader;
  for (const std::string& text : std::vector<std::string>{
           R"({"text": "\ud83d\ude00"})", R"({"text": "\uD83D\uDE00"})", R"({"text": "a", "b": )" + nested(63) + "}",
           R"({"text": ")" + std::string(JsonFieldReader::kLongest, 'x') + R"("})"}) {
    EXPECT_TRUE(by_parse_json(text)) << text.substr(0, 100);
    EXPECT_FALSE(by_reader(reader, text)) << text.substr(0, 100);
  }
  EXPECT_TRUE(by_reader(reader, R"({"text": "after that"})"));
}

}  // namespace
}  // namespace chargpt
