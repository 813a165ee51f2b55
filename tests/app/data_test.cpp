#include "app/support.hpp"

namespace chargpt {
namespace {

class Data : public ProgramTest {
 protected:
  Json json(std::vector<std::string> words, int code = 0) const {
    words.insert(words.begin(), "data");
    words.push_back("--json");
    const ProgramResult result = chargpt(words);
    EXPECT_EQ(result.code, code) << result.err;
    return parse_json(result.out, {.source = "stdout"});
  }
};

TEST_F(Data, StatsTellWhatATextIsMadeOf) {
  dir_.write("poem.txt", "床前明月光\n疑是地上霜\n");
  const Json files = json({"stats", "--data", "poem.txt"})["files"];
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0]["characters"], 12);
  EXPECT_EQ(files[0]["bytes"], 32);
  EXPECT_EQ(files[0]["scripts"]["Han"], 10);
  const ProgramResult shown = chargpt({"data", "stats", "--data", "poem.txt"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  for (const char* part : {"vocabulary_size", "11", "Han", "明", "U+660E"}) {
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << '\n' << shown.out;
  }
}

TEST_F(Data, StatsLookAtEveryFileOfTheConfig) {
  dir_.write("v.txt", "abc\n");
  EXPECT_EQ(json({"stats", "--config", "t.json", "--set", "data.val_path=v.txt"})["files"].size(), 2U);
  expect_error(chargpt({"data", "stats"}), 2, {"--data"});
  expect_error(chargpt({"data", "stats", "--data", "nowhere.txt"}), 66, {"nowhere.txt"});
}

TEST_F(Data, CheckFindsWhatStandsInTwoParts) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "{\"text\": \"a document that is number " + std::to_string(i % 95) + "\"}\n";
  dir_.write("d.jsonl", lines);
  const ProgramResult result =
      chargpt({"data", "check", "--data", "d.jsonl", "--set", "data.split=contiguous", "--json"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.err.find("leak: 5 documents of val in train too"), std::string::npos) << result.err;
  const Json leaks = parse_json(result.out, {.source = "stdout"})["leaks"];
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0]["count"], 5);
  EXPECT_EQ(leaks[0]["piece"], "document");
}

TEST_F(Data, CheckPassesWhatHasNothingInCommon) {
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += "{\"text\": \"a document that is number " + std::to_string(i) + ", the only one\"}\n";
  dir_.write("d.jsonl", lines);
  const Json checked = json({"check", "--data", "d.jsonl"});
  EXPECT_TRUE(checked["leaks"].empty());
  EXPECT_EQ(checked["parts"][0]["documents"], 90);
  EXPECT_EQ(chargpt({"data", "check", "--data", "d.jsonl"}).code, 0);
}

TEST_F(Data, CheckNamesWhatCannotBeRead) {
  dir_.write("bad.txt", std::string(100, 'x') + "\x92");
  expect_error(chargpt({"data", "check", "--data", "bad.txt"}), 65, {"bad.txt", "offset 100", "WINDOWS-1252"});
}

}  // namespace
}  // namespace chargpt
