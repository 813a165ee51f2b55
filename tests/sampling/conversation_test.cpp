#include "chargpt/sampling/conversation.hpp"

#include <gtest/gtest.h>

#include "sampling/support.hpp"

namespace chargpt {
namespace {

const Tokenizer kLetters({U'/', U'a', U'b', U'c'}, false);

struct Talk {
  std::string written, told;
};

/// What is answered to some lines.
Talk talk(const std::vector<std::string>& lines, const NextLogits& next = count_up) {
  Talk talk;
  SampleConfig settings;
  settings.length = 3;
  settings.seed = 5;
  auto line = lines.begin();
  Partner partner;
  partner.read_line = [&]() -> std::optional<std::string> {
    if (line == lines.end()) return std::nullopt;
    return *line++;
  };
  partner.tell = [&](const std::string& text) { talk.told += text; };
  partner.output.write = [&](std::string_view text) {
    talk.written += text;
    return true;
  };
  partner.output.stopped = [] { return false; };
  partner.output.warn = [&](const std::string& warning) { talk.told += warning; };
  converse({kLetters, 8, next}, settings, partner);
  return talk;
}

TEST(Conversation, ContinuesEachLine) {
  const Talk got = talk({"a", "ab", "//"});
  EXPECT_EQ(got.written, "bc/\nc/a\nabc\n");
  EXPECT_EQ(got.told, "");
}

TEST(Conversation, ASettingHoldsUntilItIsReset) {
  EXPECT_EQ(talk({"/length 1", "a", "a", "/reset", "a"}).written, "b\nb\nbc/\n");
  EXPECT_EQ(talk({"/stop [\"c\"]", "a", "/stop []", "a"}).written, "b\nbc/\n");
  EXPECT_EQ(talk({"/top-k 1", "/exact", "a"}, flat).written, "///\n");
}

TEST(Conversation, EachTextHasTheNextSeedAndASeedCanBeGoneBackTo) {
  const std::string two = talk({"/length 20", "a", "a"}, flat).written;
  EXPECT_NE(two.substr(0, 21), two.substr(21));
  EXPECT_EQ(talk({"/length 20", "a", "a", "/seed 5", "a", "a"}, flat).written, two + two);
}

TEST(Conversation, TellsWhatIsWrongAndGoesOn) {
  const Talk got = talk({"/temprature 1", "/temperature -1", "q", "\xff", "/unknown maybe", "/prompt b", "a"});
  EXPECT_EQ(got.written, "bc/\n");
  EXPECT_EQ(std::count(got.told.begin(), got.told.end(), '\n'), 6);
  for (const char* part : {"sample.temperature", "0 or more", "U+0071", "UTF-8", "replace=X", "/prompt"}) {
    EXPECT_NE(got.told.find(part), std::string::npos) << got.told << " lacks " << part;
  }
}

TEST(Conversation, HelpsShowsItsSettingsAndEnds) {
  EXPECT_NE(talk({"/help"}).told.find("/temperature"), std::string::npos);
  EXPECT_NE(talk({"/length 2", "/settings"}).told.find("/length 2\n"), std::string::npos);
  EXPECT_EQ(talk({"/quit", "a"}).written, "");
}

}  // namespace
}  // namespace chargpt
