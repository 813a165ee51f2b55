#include "chargpt/base/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/memory.hpp"

namespace chargpt {
namespace {

/// The message with which `text` is refused; fails the test if it is accepted or has another exit code.
std::string refusal(const std::string& text, JsonRules rules = {.source = "a.json"}) {
  try {
    parse_json(text, rules);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), rules.code);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 80);
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Json, ReadsEveryKindOfValueAsTheOrdinaryParserDoes) {
  const std::string text =
      R"( {"a": [1, -2, 2.5e-3, true, false, null, "x\né\ud83d\ude00"], "b": {"c": {}}, "d": [[], [{}]]} )";
  EXPECT_EQ(parse_json(text, {.source = "a.json"}), Json::parse(text));
}

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_json(R"({"z": 1, "a": 2, "m": 3})", {.source = "a.json"}).dump(), R"({"z":1,"a":2,"m":3})");
}

TEST(Json, AcceptsOneKeyInTwoObjects) {
  EXPECT_EQ(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", {.source = "a.json"}).dump(), R"([{"a":1},{"a":{"a":2}}])");
}

TEST(Json, RefusesAKeyThatStandsTwiceAndNamesItAndItsPlace) {
  const std::string message = refusal("{\"a\": 1,\n \"b\": 2, \"a\": 3}");
  EXPECT_TRUE(has(message, "a.json, line 2, column ")) << message;
  EXPECT_TRUE(has(message, "key \"a\" stands twice")) << message;
}

TEST(Json, RefusesATrailingCommaAtItsLineAndColumn) {
  EXPECT_TRUE(has(refusal("{\n  \"a\": 1,\n}"), "a.json, line 3, column 1: "));
  EXPECT_TRUE(has(refusal("[1, 2, ]"), "a.json, line 1, column 8: "));
}

TEST(Json, RefusesWhatTheGrammarDoesNotHave) {
  for (const char* text :
       {"",       " ",     "nul", "NaN",  "Infinity", "01",     "+1",      "1.",          ".5", "'a'",     "\"a",
        "{a: 1}", "[1 2]", "1 2", "{} x", "// no\n1", "\"\t\"", "\"\\x\"", "\"\\ud800\"", "[",  "{\"a\"}", "]"}) {
    EXPECT_TRUE(has(refusal(text), "a.json, line ")) << text;
  }
}

TEST(Json, RefusesANulByteWhereverItStands) {
  using namespace std::string_literals;
  for (const std::string& text : {"[1]\0"s, "[1]\0 rest"s, "\0"s, "[\0001]"s, "[\"a\0b\"]"s}) {
    EXPECT_TRUE(has(refusal(text), "a NUL byte")) << text;
  }
  EXPECT_TRUE(has(refusal("[\n1]\0"s), "a.json, line 2, column 3: a NUL byte"));
}

TEST(Json, RefusesInvalidUtf8) { EXPECT_TRUE(has(refusal("[\"ab\xff\"]"), "a.json, line 1, column 5: ")); }

TEST(Json, RefusesANumberBeyondADoubleInPlainWords) {
  const std::string message = refusal("[1e999]");
  EXPECT_TRUE(has(message, "number overflow")) << message;
  EXPECT_FALSE(has(message, "json.exception")) << message;
}

TEST(Json, RefusesAHundredThousandOpenBracketsWithoutACrash) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_TRUE(has(refusal(text), "nested deeper than 64 levels"));
  }
}

TEST(Json, AcceptsNestingUpToTheLimitAndNotOneLevelMore) {
  const JsonRules rules = {.source = "a.json", .max_depth = 3};
  EXPECT_EQ(parse_json("[[[1]]]", rules).dump(), "[[[1]]]");
  EXPECT_TRUE(has(refusal("[[[[1]]]]", rules), "nested deeper than 3 levels"));
}

TEST(Json, AcceptsValuesUpToTheLimitAndNotOneMore) {
  const JsonRules rules = {.source = "a.json", .max_values = 4};
  EXPECT_EQ(parse_json(R"({"a": [1, 2]})", rules)["a"].size(), 2U);
  EXPECT_TRUE(has(refusal(R"({"a": [1, 2, 3]})", rules), "more than 4 values"));
  EXPECT_TRUE(has(refusal("[[],[],[],[]]", rules), "more than 4 values"));
}

TEST(Json, CostsBoundedMemoryWhateverItsValues) {
  for (const std::string value : {"[]", "{}", "\"\"", "0", "{\"a\":\"b\"}"}) {
    std::string text = "[" + value;
    while (text.size() < (8U << 20)) text += "," + value;
    text += "]";
    EXPECT_LT(memory_growth([&] { refusal(text); }), 64 << 20) << value;
  }
}

TEST(Json, ShowsUntrustedTextOnOneShortLine) {
  EXPECT_EQ(shown("a\n\"b"), R"("a\n\"b")");
  EXPECT_EQ(shown("\xff"), R"("\ufffd")");
  EXPECT_LT(shown(std::string(1000, 'x')).size(), 90U);
}

TEST(Json, ThrowsTheExitCodeOfItsRules) { refusal("{", {.source = "model", .code = ExitCode::unusable_model}); }

TEST(Json, MessagesStayShortAndOnOneLineHoweverLongTheText) {
  const std::string message = refusal("[\"" + std::string(100000, 'x') + "\n");
  EXPECT_LT(message.size(), 400u);
  EXPECT_FALSE(has(message, "\n"));
}

TEST(Json, ALineIsAsciiOnOneLineAndReadsBack) {
  const Json value = {{"text", "a\nb\u00e9\U0001F600"}, {"n", 0.1}};
  const std::string line = to_json_line(value);
  for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  EXPECT_EQ(parse_json(line, {.source = "line"}), value);
}

TEST(Json, ALineHasNullForNanAndInfinity) {
  const Json value = {std::nan(""), std::numeric_limits<double>::infinity(), 1.0};
  EXPECT_EQ(to_json_line(value), "[null,null,1.0]");
}

TEST(Json, ALineOfTextThatIsNotUtf8IsAnInternalError) {
  try {
    to_json_line(Json("\xff"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::internal);
  }
}

}  // namespace
}  // namespace chargpt
