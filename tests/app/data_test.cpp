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

TEST_F(Data, PrepareKeepsTheIdsAndTrainingTakesThem) {
  const std::vector<std::string> prepare = {"prepare", "--config", "t.json", "--set", "data.cache=cache"};
  const Json first = json(prepare), again = json(prepare);
  EXPECT_EQ(first["prepared"], true);
  EXPECT_EQ(again["prepared"], false);
  EXPECT_EQ(again["mb_per_second"], nullptr);
  EXPECT_EQ(again["file"], first["file"]);
  EXPECT_EQ(again["hash"], first["hash"]);
  EXPECT_EQ(first["parts"], again["parts"]);
  EXPECT_EQ(first["bytes"], plain_text().size());
  const std::string file = dir_ / first["file"].get<std::string>();
  ASSERT_TRUE(std::filesystem::exists(file));
  ASSERT_EQ(train("r", {"--set", "data.cache=cache", "--set", "train.steps=5"}).code, 0);
  ASSERT_EQ(train("s", {"--set", "train.steps=5"}).code, 0);
  EXPECT_TRUE(read_file(dir_ / "r/checkpoints/step-00000005/model.safetensors") ==
              read_file(dir_ / "s/checkpoints/step-00000005/model.safetensors"));

  std::string damaged = read_file(file);
  damaged[1000] ^= 1;
  dir_.write(first["file"].get<std::string>(), damaged);
  const ProgramResult refused = train("t", {"--set", "data.cache=cache"});
  EXPECT_EQ(refused.code, 74);
  EXPECT_NE(refused.err.find("damaged: the block of"), std::string::npos) << refused.err;
  std::filesystem::resize_file(file, 1000);
  const ProgramResult told = train("u", {"--set", "data.cache=cache", "--set", "train.steps=5"});
  EXPECT_EQ(told.code, 0);
  EXPECT_NE(told.err.find("prepared anew"), std::string::npos) << told.err;
}

TEST_F(Data, PrepareKeepsASmallTextNowhereUnlessAFolderIsNamed) {
  ProgramOptions options;
  options.environment = {"XDG_CACHE_HOME=" + dir_ / "x"};
  const ProgramResult result = chargpt({"data", "prepare", "--config", "t.json", "--json"}, options);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(parse_json(result.out, {.source = "stdout"})["file"], nullptr);
  EXPECT_NE(result.err.find("data.cache"), std::string::npos) << result.err;
  EXPECT_FALSE(exists("x"));
}

TEST_F(Data, PrepareKeepsALargeTextInTheUsersCache) {
  dir_.write("big.txt", std::string(17 << 20, 'a') + plain_text());
  ProgramOptions options;
  options.environment = {"XDG_CACHE_HOME=" + dir_ / "x"};
  EXPECT_EQ(chargpt({"data", "prepare", "--data", "big.txt"}, options).code, 0);
  EXPECT_FALSE(std::filesystem::is_empty(dir_ / "x/chargpt/texts"));
}

TEST_F(Data, ThatChangedIsRefusedOnAResumeWithACacheToo) {
  ASSERT_EQ(train("r", {"--set", "data.cache=cache", "--set", "train.steps=5"}).code, 0);
  dir_.write("d.txt", "t" + plain_text().substr(1));
  expect_error(chargpt({"train", "--resume", "r", "--set", "train.steps=7"}), 65, {"XXH3-128"});
}

TEST_F(Data, CheckNamesWhatCannotBeRead) {
  dir_.write("bad.txt", std::string(100, 'x') + "\x92");
  expect_error(chargpt({"data", "check", "--data", "bad.txt"}), 65, {"bad.txt", "offset 100", "WINDOWS-1252"});
}

}  // namespace
}  // namespace chargpt
