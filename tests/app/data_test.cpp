#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "app/support.hpp"
#include "chargpt/base/utf8.hpp"

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
  EXPECT_EQ(files[0]["vocabulary"][0]["name"], "LINE FEED");
  for (const char* part : {"vocabulary_size", "11", "Han", "明", "U+660E", "CJK UNIFIED IDEOGRAPH-660E"}) {
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << '\n' << shown.out;
  }
}

TEST_F(Data, StatsLookAtEveryFileOfTheConfig) {
  dir_.write("v.txt", "abc\n");
  EXPECT_EQ(json({"stats", "--config", "t.json", "--set", "data.val_path=v.txt"})["files"].size(), 2U);
  expect_error(chargpt({"data", "stats"}), 2, {"--data"});
  expect_error(chargpt({"data", "stats", "--data", "nowhere.txt"}), 66, {"nowhere.txt"});
  expect_error(chargpt({"data", "stats", "--data", "no\x1b[31m.txt"}), 66, {"no\\x1b[31m.txt"});
  expect_error(chargpt({"data", "stats", "--data", "-", "--set", "data.val_path=-"}), 2, {"standard input (-) can be"});
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

TEST_F(Data, PrepareTellsWhetherItWasPreparedBefore) {
  const std::vector<std::string> words = {"prepare", "--data", "d.txt", "--set", "data.cache=cache"};
  EXPECT_EQ(json(words)["prepared"], true);
  EXPECT_EQ(json(words)["prepared"], false);
}

TEST_F(Data, TwoHundredThousandDifferentCharactersWork) {
  std::u32string all;
  for (char32_t c = 0x3400; all.size() < 200'000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all += c;
  }
  dir_.write("many.txt", encode_utf8(all) + encode_utf8(all));
  const std::vector<std::string> words = {"prepare", "--data", "many.txt", "--set", "data.cache=cache"};
  EXPECT_EQ(json(words)["vocabulary_size"], 200'000);
  EXPECT_EQ(json(words)["prepared"], false);
  const ProgramResult trained =
      train("many", {"--data", "many.txt", "--set", "data.cache=cache", "--set", "train.steps=1", "--set",
                     "eval.mode=random", "--set", "eval.windows=2"});
  EXPECT_EQ(trained.code, 0) << trained.err;
  const ProgramResult sampled = chargpt({"sample", "--run", "many", "--length", "20", "--quiet"});
  EXPECT_EQ(sampled.code, 0) << sampled.err;
}

TEST_F(Data, TextOfAnotherEncodingThatPassesForUtf8IsWarnedOf) {
  std::string utf16;
  for (const char c : plain_text()) utf16 += {c, '\0'};
  dir_.write("utf16.txt", utf16);
  const ProgramResult result = chargpt({"data", "check", "--data", "utf16.txt"});
  EXPECT_NE(result.err.find("are NUL, as in UTF-16"), std::string::npos) << result.err;
  std::u32string many;
  for (char32_t c = 0x4E00; many.size() < 12'001; ++c) many += c;
  dir_.write("many.txt", encode_utf8(many));
  const ProgramResult check = chargpt({"data", "check", "--data", "many.txt"});
  EXPECT_NE(check.err.find("12001 different characters, more than most texts have"), std::string::npos) << check.err;
}

TEST_F(Data, APathMayHaveAnyBytes) {
  std::filesystem::create_directory(dir_ / "odd");
  dir_.write("odd/d\xff.txt", plain_text());
  EXPECT_EQ(json({"prepare", "--data", "odd", "--set", "data.cache=cache"})["prepared"], true);
}

TEST_F(Data, AStandardInputThatPausesIsTold) {
  ASSERT_EQ(mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  std::atomic<bool> told = false;
  std::thread writer([&] {
    std::ofstream pipe(dir_ / "pipe");
    pipe << plain_text() << std::flush;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!told && std::chrono::steady_clock::now() < until) usleep(1000);
  });
  ProgramOptions options{.folder = dir_.path()};
  options.on_stderr = [&](pid_t, const std::string& text) { told = text.find(" MB/s") != std::string::npos; };
  const std::string command = std::string(CHARGPT_PROGRAM) + " data prepare --data - < pipe";
  const ProgramResult result = run_program({"/bin/bash", "-c", command}, options);
  EXPECT_TRUE(told);
  told = true;
  writer.join();
  EXPECT_EQ(result.code, 0) << result.err;
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
