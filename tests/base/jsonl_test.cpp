#include "chargpt/base/jsonl.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chargpt/base/error.hpp"
#include "support/strict_document.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

/// All documents of a text that is given in pieces of `size` bytes.
std::vector<std::string> documents_of(const std::string& text, std::size_t size) {
  std::vector<std::string> documents(1);
  const auto add = [&](const JsonlText& more) {
    std::size_t begin = 0;
    for (const std::size_t end : more.ends) {
      documents.back() += more.bytes.substr(begin, end - begin);
      documents.emplace_back();
      begin = end;
    }
    documents.back() += more.bytes.substr(begin);
  };
  JsonlReader reader("text", "d");
  for (std::size_t at = 0; at < text.size(); at += size) add(reader.read(text.substr(at, size)));
  add(reader.finish());
  EXPECT_EQ(documents.back(), "");
  documents.pop_back();
  return documents;
}

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(JsonlReader, FindsWhatParseJsonFindsInPiecesOfAnySize) {
  for (const std::string line : {
           R"({"text": "a"})",
           R"( {"n":1,"text":"","more":[1,2.5,-3e7,0,true,false,null,{"text":"inner"},[],{}, "a\u00e4"]} )"
           "\r",
           R"({"text": "\"\\\/\b\f\n\r\t\u0000\u00e4\u4e2d\uffff"})",
           "{\"text\": \"\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80\"}",
           R"({"text": "\ud55c\uad6d \uD7A3\ud83d\ude00"})",
           R"({"te\u0078t": "a"})",
           R"({"a": {"x": 1}, "b": {"x": 1, "text": "no"}, "text": "c", "c": {"x": 1, "y": {"x": 1}, "z": 2}})",
           R"({"a": ["text", {"text": "no"}], "text": "c", "": "", "d": [{"x": 1}, {"x": 1}]})",
       }) {
    ASSERT_TRUE(strict_document(line)) << line;
    for (std::size_t size = 1; size <= line.size(); ++size) {
      EXPECT_EQ(documents_of(line, size), std::vector{*strict_document(line)}) << line << ' ' << size;
    }
  }
  const std::string deepest = R"({"text": "a", "b": )" + nested(JsonlReader::kDeepest - 1) + "}";
  ASSERT_TRUE(strict_document(deepest));
  EXPECT_EQ(documents_of(deepest, 1000), std::vector<std::string>{"a"});
}

TEST(JsonlReader, RefusesWhatParseJsonRefuses) {
  for (const std::string& line : std::vector<std::string>{"[1]",
                                                          "7",
                                                          "x",
                                                          R"("text")",
                                                          "{}",
                                                          "{",
                                                          R"({"text": 7})",
                                                          R"({"text": null, "a": "text"})",
                                                          R"({"text": ["a"]})",
                                                          R"({"body": "a"})",
                                                          R"({"a": {"text": "a"}})",
                                                          R"({"a": ["text", "a"]})",
                                                          R"({"text": "a")",
                                                          R"({"text": "a)",
                                                          R"({"text": "a"}})",
                                                          R"({"text": "a"} {})",
                                                          R"({"text": "a",})",
                                                          R"({,"text": "a"})",
                                                          R"({"text" "a"})",
                                                          R"({"text": "a" "b": 1})",
                                                          R"({'text': "a"})",
                                                          R"({"text": "a", "b": [1,]})",
                                                          R"({"text": "a", "b": [,1]})",
                                                          R"({"text": "a", "b": [1 2]})",
                                                          R"({"text": "a", "b": [1}})",
                                                          R"({"text": "a", "b": {1]})",
                                                          R"({"text": "a", "b": {]})",
                                                          R"({"text": "a", "b": [}})",
                                                          R"({"text": "a", "b": })",
                                                          R"({"text": "a", 1: 2})",
                                                          R"({"text": "a", "text": "a"})",
                                                          R"({"text": "a", "te\u0078t": "b"})",
                                                          R"({"text": "a", "b": {"x": 1, "x": 1}})",
                                                          R"({"text": "a", "b": [[{"x": 1, "\u0078": 1}]]})",
                                                          R"({"text": "a", "b": {"x": {}, "y": {"x": 1}, "x": 1}})",
                                                          R"({"text": "a", "n": 01})",
                                                          R"({"text": "a", "n": 1.})",
                                                          R"({"text": "a", "n": -})",
                                                          R"({"text": "a", "n": +1})",
                                                          R"({"text": "a", "n": tru})",
                                                          R"({"text": "a", "n": truE})",
                                                          R"({"text": "a", "n": truex})",
                                                          R"({"text": "a", "n": NaN})",
                                                          R"({"text": "\ud800"})",
                                                          R"({"text": "a", "b": "\udc00"})",
                                                          R"({"text": "a", "b\q": 1})",
                                                          "{\"text\": \"a\tb\"}",
                                                          std::string("{\"text\": \"a\"}\0", 14),
                                                          std::string("{\"text\": \"a\", \0\"b\": 1}", 22),
                                                          R"({"text": "a", "b": )" + nested(64) + "}"}) {
    EXPECT_FALSE(strict_document(line)) << line;
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, line.size()}) {
      EXPECT_THROW(documents_of(line, size), Error) << line << ' ' << size;
      EXPECT_THROW(documents_of(line + "\n{\"text\": \"b\"}", size), Error) << line << ' ' << size;
    }
  }
}

TEST(JsonlReader, EachLineIsADocumentButBlankOnesAreNone) {
  const std::string text = "\n \t\r\n{\"text\": \"one\"}\r\n\n{\"text\": \"\"}\n{\"n\": 1, \"text\": \"th\\nree\"}";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(documents_of(text, size), (std::vector<std::string>{"one", "", "th\nree"}));
    EXPECT_EQ(documents_of(text + "\n", size), documents_of(text, size));
  }
  EXPECT_TRUE(documents_of("", 1).empty());
  EXPECT_TRUE(documents_of("\n\n ", 1).empty());
}

TEST(JsonlReader, GivesALongDocumentAsItComes) {
  JsonlReader reader("text", "d");
  std::size_t characters = reader.read(R"({"n": ")").bytes.size();
  for (int i = 0; i < 100; ++i) EXPECT_LE(reader.read(std::string(1000, 'x')).bytes.capacity(), 1100);
  characters += reader.read(R"(", "text": ")").bytes.size();
  EXPECT_EQ(characters, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(reader.read(std::string(1000, 'y')).bytes, std::string(1000, 'y'));
  EXPECT_EQ(reader.read("\"}\n").ends, std::vector<std::size_t>{0});
}

TEST(JsonlReader, NamesThePlaceOfAFault) {
  const auto expect_fault = [](const std::string& text, const std::string& message) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{5}, text.size()}) {
      expect_error(ExitCode::bad_data, {message}, [&] { documents_of(text, size); });
    }
  };
  const std::string good = "{\"text\": \"a\"}\n\n";
  expect_fault(good + "{\"text\": \"a\tb\"}", "d, line 3, column 12: a control character in a string");
  expect_fault(good + "{\"text\": \"a\nb\"}", "d, line 3, column 12: the line ends within a string");
  expect_fault(good + "{\"text\": \"a", "d, line 3, column 12: the line ends within a string");
  expect_fault(good + "{\"text\": \"a\"\n}", "d, line 3, column 13: the line ends within its object");
  expect_fault(good + "{\"text\" \"a\"}", "d, line 3, column 9: expected a colon behind the key, got '\"'");
  expect_fault(good + "{text: 1}", "d, line 3, column 2: expected a key in quotation marks, got 't'");
  expect_fault(good + "{\"n\": 1.x}", "d, line 3, column 9: expected more of a number, got 'x'");
  expect_fault(good + "{\"n\": nul}", "d, line 3, column 10: expected true, false or null, got '}'");
  expect_fault(good + "{\"n\": \xC3\xA4}", "d, line 3, column 7: expected a value, got 0xC3");
  expect_fault(good + "{\"n\": [1 2]}", "d, line 3, column 10: expected a comma or ], got '2'");
  expect_fault(good + "{\"n\": 1 2}", "d, line 3, column 9: expected a comma or }, got '2'");
  expect_fault(good + "{\"n\": 1}}",
               "d, line 3, column 9: expected nothing more on the line behind its object, got '}'");
  expect_fault(good + "{\"n\": 1, \"n\": 2}", "d, line 3, column 13: key \"n\" stands twice in one object");
  expect_fault(good + "{\"n\": " + nested(64) + "}", "d, line 3, column 70: nested deeper than 64 levels");
  expect_fault(good + "hello", "d, line 3, column 1: expected an object, got 'h'");
  expect_fault(good + "\xEF\xBB\xBF{}",
               "d, line 3, column 1: expected an object, got 0xEF: a byte order mark, perhaps");
  expect_fault(good + "7", "d, line 3: expected an object, got a JSON number");
  expect_fault(good + "{\"text\": {}}", "d, line 3: field \"text\" should be a string, is a JSON object");
  expect_fault(good + "{\"n\": 1}", "d, line 3: no field \"text\"; name the field that holds the text with data.field");
}

TEST(JsonlReader, KeepsNoMoreThanItSays) {
  const std::size_t piece = 1 << 15;
  std::string keys = R"({"text": "a", "n": {"0": 0)", values = R"({"text": "a", "n": [0)";
  for (std::size_t i = 1; i < JsonlReader::kMostKeys - 2; ++i) keys += fmt::format(",\"{}\":0", i);
  for (std::size_t i = 0; i < 2 * JsonlReader::kMostKeys; ++i) values += ",0";
  EXPECT_EQ(documents_of(keys + "}}", piece).size(), 1);
  EXPECT_EQ(documents_of(values + "]}\n" + keys + "}}", piece).size(), 2);
  expect_error(ExitCode::bad_data, {"d, line 1: more than 200000 keys"},
               [&] { documents_of(keys + ",\"more\":0}}", piece); });
  const std::string key(JsonlReader::kLongestKey, 'k');
  EXPECT_EQ(documents_of(R"({"text": "a", ")" + key + R"(": 1})", piece).size(), 1);
  expect_error(ExitCode::bad_data, {"d, line 1: a key of more than 65536 bytes"},
               [&] { documents_of(R"({"text": "a", ")" + key + R"(k": 1})", piece); });
}

}  // namespace
}  // namespace chargpt
