#include "chargpt/base/config_key.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace chargpt {

enum class Colour { red, green };

static std::string_view name(Colour value) {
  switch (value) {
    case Colour::red:
      return "red";
    case Colour::green:
      return "green";
  }
  return {};
}

namespace {

struct ConfigKeyTest : testing::Test {
  std::int64_t count = 1;
  double rate = 0.5;
  std::string text = "t";
  std::vector<double> list = {0.5};
  Colour colour = Colour::red;
  std::int64_t free = 0;
  bool flag = false;
  Interval every = 3;
  KeyList keys;

  void SetUp() override {
    keys.section("a");
    keys.add("count", count, {1, 1024}, "Things.");
    keys.add("rate", rate, {0, 1, true, false}, "Per step.");
    keys.add("text", text, "A text.");
    keys.section("b");
    keys.add("list", list, {0, 1, false, true}, "Numbers.");
    keys.add("colour", colour, "A colour.");
    keys.add("free", free, {}, "Any integer.");
    keys.add("flag", flag, "Yes or no.");
    keys.add("every", every, {0, 100}, "How often.");
  }

  void set(const std::string& key, const Json& value) { keys.find(key)->set(value, "f.json"); }

  std::string refusal(const std::string& key, const Json& value) {
    const Json before = keys.find(key)->get();
    try {
      set(key, value);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_EQ(keys.find(key)->get(), before) << "a refused value must leave the member as it was";
      return error.what();
    }
    ADD_FAILURE() << key << " accepted " << value.dump();
    return "";
  }
};

TEST_F(ConfigKeyTest, NamesAreSectionAndKeyInOrder) {
  std::string names;
  for (const ConfigKey& key : keys.keys()) names += key.name + " ";
  EXPECT_EQ(names, "a.count a.rate a.text b.list b.colour b.free b.flag b.every ");
  EXPECT_EQ(keys.find("b.list")->section(), "b");
  EXPECT_EQ(keys.find("b.list")->leaf(), "list");
  EXPECT_EQ(keys.find("a.list"), nullptr);
  EXPECT_EQ(keys.find("list"), nullptr);
}

TEST_F(ConfigKeyTest, TypesHaveNames) {
  EXPECT_EQ(keys.find("a.count")->type(), "integer");
  EXPECT_EQ(keys.find("a.rate")->type(), "number");
  EXPECT_EQ(keys.find("a.text")->type(), "text");
  EXPECT_EQ(keys.find("b.list")->type(), "numbers");
  EXPECT_EQ(keys.find("b.colour")->type(), "red | green");
  EXPECT_EQ(keys.find("b.flag")->type(), "truth value");
  EXPECT_EQ(keys.find("b.every")->type(), "interval");
}

TEST_F(ConfigKeyTest, SetsTheMemberAndGetsItBack) {
  set("a.count", 7);
  set("a.rate", 0.25);
  set("a.text", "");
  set("b.list", Json::array({0.5, 0}));
  set("b.colour", "green");
  EXPECT_EQ(count, 7);
  EXPECT_EQ(rate, 0.25);
  EXPECT_EQ(text, "");
  EXPECT_EQ(list, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(colour, Colour::green);
  EXPECT_EQ(keys.find("a.count")->get(), Json(7));
  EXPECT_EQ(keys.find("b.list")->get(), Json::array({0.5, 0.0}));
  EXPECT_EQ(keys.find("b.colour")->get(), Json("green"));
}

TEST_F(ConfigKeyTest, AnIntegerIsANumberAndAWholeNumberIsAnInteger) {
  set("a.rate", 1);
  EXPECT_EQ(rate, 1.0);
  set("a.count", 1e3);
  EXPECT_EQ(count, 1000);
}

TEST_F(ConfigKeyTest, AnIntervalIsANumberOfStepsOrATextWithAUnit) {
  set("b.every", "2 epochs");
  EXPECT_EQ(every, Interval(2, IntervalUnit::epochs));
  EXPECT_EQ(keys.find("b.every")->get(), Json("2 epochs"));
  set("b.every", 7);
  EXPECT_EQ(every, Interval(7));
  EXPECT_EQ(keys.find("b.every")->get(), Json(7));
  set("b.every", "8 steps");
  EXPECT_EQ(every, Interval(8));
  const std::string wanted = ", wanted a number of steps, or a text such as \"2 epochs\" or \"10 minutes\", 0 to 100";
  EXPECT_EQ(refusal("b.every", "2 weeks"), "f.json: b.every: got \"2 weeks\" (text)" + wanted);
  EXPECT_EQ(refusal("b.every", "101 epochs"), "f.json: b.every: got \"101 epochs\" (text)" + wanted);
  EXPECT_EQ(refusal("b.every", -1), "f.json: b.every: got -1" + wanted);
  EXPECT_EQ(refusal("b.every", 1.5), "f.json: b.every: got 1.5" + wanted);
}

TEST(ConfigKeyForms, APartOfARunIsANumberOfStepsOrPerCent) {
  PartOfRun part;
  KeyList keys;
  keys.section("s");
  keys.add("part", part, {0, 100}, "A part.");
  const ConfigKey& key = keys.keys()[0];
  key.set("5 %", "f.json");
  EXPECT_EQ(part, PartOfRun(5.0, true));
  EXPECT_EQ(key.get(), Json("5 %"));
  key.set(7, "f.json");
  EXPECT_EQ(key.get(), Json(7));
  key.set(1e1, "f.json");
  EXPECT_EQ(key.get(), Json(10));
  for (const Json& wrong : {Json(101), Json(-1), Json(1.5), Json("-5 %"), Json("5 steps"), Json(true), Json(nullptr)}) {
    EXPECT_THROW(key.set(wrong, "f.json"), Error) << wrong;
  }
}

TEST(ConfigKeyForms, AnIntegerMayBeLeftToTheProgram) {
  AutoInteger count = 3;
  KeyList keys;
  keys.section("s");
  keys.add("count", count, {0, 100}, "A count.");
  const ConfigKey& key = keys.keys()[0];
  key.set("auto", "f.json");
  EXPECT_FALSE(count);
  EXPECT_EQ(key.get(), Json("auto"));
  key.set(7, "f.json");
  EXPECT_EQ(key.get(), Json(7));
  for (const Json& wrong : {Json(101), Json(-1), Json(1.5), Json("7"), Json(true)}) {
    EXPECT_THROW(key.set(wrong, "f.json"), Error) << wrong;
  }
}

TEST_F(ConfigKeyTest, ATruthValueIsTrueOrFalse) {
  set("b.flag", true);
  EXPECT_TRUE(flag);
  EXPECT_EQ(keys.find("b.flag")->get(), Json(true));
  EXPECT_EQ(refusal("b.flag", 1), "f.json: b.flag: got 1, wanted true or false");
  EXPECT_EQ(refusal("b.flag", "yes"), "f.json: b.flag: got \"yes\" (text), wanted true or false");
}

TEST_F(ConfigKeyTest, RefusalsSayWhatWasGotAndWhatIsWanted) {
  EXPECT_EQ(refusal("a.count", "12"), "f.json: a.count: got \"12\" (text), wanted an integer, 1 to 1024");
  EXPECT_EQ(refusal("a.count", 1025), "f.json: a.count: got 1025, wanted an integer, 1 to 1024");
  EXPECT_EQ(refusal("a.count", 1.5), "f.json: a.count: got 1.5, wanted an integer, 1 to 1024");
  EXPECT_EQ(refusal("a.count", true), "f.json: a.count: got true (a truth value), wanted an integer, 1 to 1024");
  EXPECT_EQ(refusal("a.rate", nullptr), "f.json: a.rate: got null, wanted a number, above 0, at most 1");
  EXPECT_EQ(refusal("a.text", 3), "f.json: a.text: got 3, wanted text");
  EXPECT_EQ(refusal("b.list", Json::array({0.5, 1})),
            "f.json: b.list: got [0.5,1] (a list), wanted a list of numbers, each 0 or more, below 1");
  EXPECT_EQ(refusal("b.list", 0.5), "f.json: b.list: got 0.5, wanted a list of numbers, each 0 or more, below 1");
  EXPECT_EQ(refusal("b.colour", Json::object()), "f.json: b.colour: got an object, wanted red | green");
  EXPECT_EQ(refusal("b.colour", "gren"),
            "f.json: b.colour: got \"gren\" (text), wanted red | green; did you mean \"green\"?");
}

TEST_F(ConfigKeyTest, RefusesNanAndInfinity) {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    refusal("a.rate", value);
    refusal("a.count", value);
    refusal("b.free", value);
    refusal("b.list", Json::array({value}));
  }
}

TEST_F(ConfigKeyTest, RefusesIntegersThatADoubleDoesNotHoldExactly) {
  constexpr std::int64_t kLargest = (std::int64_t{1} << 53) - 1;
  set("b.free", kLargest);
  EXPECT_EQ(free, kLargest);
  set("b.free", -kLargest);
  EXPECT_EQ(free, -kLargest);
  refusal("b.free", kLargest + 2);
  refusal("b.free", std::numeric_limits<std::int64_t>::min());
  refusal("b.free", std::numeric_limits<std::uint64_t>::max());
  refusal("b.free", 1e300);
}

TEST_F(ConfigKeyTest, MessagesStayShortAndCutBetweenCharacters) {
  std::string wide;
  for (int i = 0; i < 1000; ++i) wide += "\u8a9e";
  for (const char* prefix : {"", "x", "xx"}) {
    const std::string message = refusal("a.count", prefix + wide);
    EXPECT_LT(message.size(), 200u);
    EXPECT_NO_THROW(to_json_line(Json(message)));
  }
}

TEST(Range, ContainsItsClosedEndsOnly) {
  const double inf = HUGE_VAL;
  EXPECT_TRUE((Range{1, 2}.contains(1)));
  EXPECT_TRUE((Range{1, 2}.contains(2)));
  EXPECT_FALSE((Range{1, 2}.contains(std::nextafter(1, 0))));
  EXPECT_FALSE((Range{1, 2, true, true}.contains(1)));
  EXPECT_FALSE((Range{1, 2, true, true}.contains(2)));
  EXPECT_TRUE((Range{1, 2, true, true}.contains(std::nextafter(1, 2))));
  EXPECT_TRUE((Range{}.contains(-1e300)));
  EXPECT_FALSE((Range{}.contains(inf)));
  EXPECT_FALSE((Range{}.contains(-inf)));
  EXPECT_FALSE((Range{}.contains(std::nan(""))));
}

TEST(Range, IsSaidInWords) {
  const double inf = HUGE_VAL;
  EXPECT_EQ((Range{1, 1048576}.text()), "1 to 1048576");
  EXPECT_EQ((Range{0, inf}.text()), "0 or more");
  EXPECT_EQ((Range{0, inf, true, false}.text()), "above 0");
  EXPECT_EQ((Range{0, 1, true, true}.text()), "above 0, below 1");
  EXPECT_EQ((Range{0, 1, false, true}.text()), "0 or more, below 1");
  EXPECT_EQ((Range{0, 1, true, false}.text()), "above 0, at most 1");
  EXPECT_EQ((Range{-inf, 0.5}.text()), "at most 0.5");
  EXPECT_EQ(Range{}.text(), "");
}

}  // namespace
}  // namespace chargpt
