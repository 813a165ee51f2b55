#include "app/support.hpp"

namespace chargpt {
namespace {

class CommandLine : public ProgramTest {};

TEST_F(CommandLine, HelpAndVersionGoToStdout) {
  for (const std::string command : {"", "train", "sample", "eval", "inspect", "bench", "config"}) {
    std::vector<std::string> words = {"--help"};
    if (!command.empty()) words.insert(words.begin(), command);
    const ProgramResult result = chargpt(words);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_NE(result.out.find(command.empty() ? "train" : "--help"), std::string::npos);
  }
  EXPECT_EQ(chargpt({"--version"}).out.rfind("chargpt ", 0), 0U);
}

TEST_F(CommandLine, WithoutACommandShowsHelpAndFails) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"config"}}) {
    const ProgramResult result = chargpt(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("Usage"), std::string::npos);
  }
}

TEST_F(CommandLine, SuggestsTheNearestWord) {
  expect_error(chargpt({"trian", "--out", "x"}), 2, {"trian", "did you mean train?"});
  expect_error(chargpt({"sample", "-seed", "3"}), 2, {"-seed", "did you mean --seed?"});
  expect_error(chargpt({"sample", "--sed", "3"}), 2, {"--sed", "did you mean --seed?"});
  expect_error(chargpt({"train", "--quiett"}), 2, {"--quiett", "did you mean --quiet?"});
  expect_error(chargpt({"config", "shw"}), 2, {"shw", "did you mean show?"});
  expect_error(chargpt({"config", "show", "everything"}), 2, {"everything", "see chargpt config show --help"});
}

TEST_F(CommandLine, AnEmptyNameIsNotAFlagThatWasNotGiven) {
  ASSERT_EQ(train("runs/r", {"--set", "train.steps=1"}).code, 0);
  for (const std::string flag : {"--config", "--init", "--resume"}) {
    expect_error(chargpt({"train", "--data", "d.txt", "--out", "x", flag, ""}), 2, {flag, "empty name"});
    EXPECT_FALSE(exists("x"));
  }
  for (const std::string flag : {"--config", "--run", "--model", "--checkpoint", "--weights", "--prompt-file"}) {
    expect_error(chargpt({"sample", flag, ""}), 2, {flag, "empty name"});
  }
  for (const std::string flag : {"--data", "--compare", "--per-char"}) {
    expect_error(chargpt({"eval", flag, ""}), 2, {flag, "empty name"});
  }
  expect_error(chargpt({"inspect", ""}), 2, {"empty name"});
  EXPECT_EQ(chargpt({"sample", "--prompt", "", "--length", "1"}).code, 0);
}

TEST_F(CommandLine, TakesNegativeNumbersAsValuesAndSaysTheirRange) {
  ASSERT_EQ(train("r").code, 0);
  expect_error(chargpt({"sample", "--run", "r", "--seed", "-1"}), 2, {"--seed", "-1", "0 to"});
  expect_error(chargpt({"sample", "--run", "r", "--temperature", "-0.5"}), 2, {"--temperature", "-0.5", "0 or more"});
  expect_error(chargpt({"sample", "--run", "r", "--top-k", "-1"}), 2, {"--top-k", "-1", "0 to"});
}

TEST_F(CommandLine, NamesTheKeyThatWasMeant) {
  const auto with = [&](const std::string& text) {
    dir_.write("bad.json", text);
    return chargpt({"train", "--config", "bad.json", "--out", "x"});
  };
  expect_error(with(R"({"optimizer": {"learning_rat": 1}})"), 2,
               {"bad.json", "optimizer.learning_rat", "\"optimizer.learning_rate\""});
  expect_error(with(R"({"optimizer": {"learning-rate": 1}})"), 2, {"\"optimizer.learning_rate\""});
  expect_error(with(R"({"batch": 3})"), 2, {"\"train.batch\""});
  expect_error(with(R"({"model": {"batch": 3}})"), 2, {"\"train.batch\""});
  expect_error(with(R"({"train": {"batch": 3,}})"), 2, {"line 1, column"});
  expect_error(with(R"({"train": {"batch": 3, "batch": 4}})"), 2, {"batch", "twice"});
  expect_error(with(R"({"train": {"batch": "3"}})"), 2, {"train.batch", "integer"});
  expect_error(with(std::string(100000, '[')), 2, {"bad.json", "nested deeper"});
  EXPECT_FALSE(exists("x"));
}

TEST_F(CommandLine, RefusesAnUnknownEnvironmentVariable) {
  const ProgramResult result = chargpt({"config", "check"}, {.environment = {"CHARGPT_TRAIN_BACH=3"}});
  expect_error(result, 2, {"CHARGPT_TRAIN_BACH", "CHARGPT_TRAIN_BATCH"});
}

TEST_F(CommandLine, FlagsBeatTheEnvironmentWhichBeatsTheFile) {
  const auto batch = [&](const std::vector<std::string>& more, const std::vector<std::string>& environment) {
    std::vector<std::string> words = {"config", "show", "--json", "--config", "t.json"};
    words.insert(words.end(), more.begin(), more.end());
    return parse_json(chargpt(words, {.environment = environment}).out, {"stdout"})["train"]["batch"].get<int>();
  };
  EXPECT_EQ(batch({}, {}), 4);
  EXPECT_EQ(batch({}, {"CHARGPT_TRAIN_BATCH=5"}), 5);
  EXPECT_EQ(batch({"--set", "train.batch=6"}, {"CHARGPT_TRAIN_BATCH=5"}), 6);
  EXPECT_EQ(batch({"--set", "train.batch=6", "--set", "train.batch=7"}, {}), 7);
}

TEST_F(CommandLine, ADumpedConfigGivesTheSameConfig) {
  const ProgramResult first = chargpt({"config", "show", "--json", "--config", "t.json", "--set", "sample.prompt="});
  dir_.write("dump.json", first.out);
  EXPECT_EQ(chargpt({"config", "show", "--json", "--config", "dump.json"}).out, first.out);
}

TEST_F(CommandLine, ConfigDiffNamesBothValues) {
  dir_.write("other.json", R"({"include": "t.json", "train": {"batch": 8}})");
  EXPECT_EQ(chargpt({"config", "diff", "t.json", "other.json"}).out, "train.batch: 4 -> 8\n");
}

TEST_F(CommandLine, SaysWhichDevicesThereAre) {
  for (const std::string device : {"gpu", "cpu:3", "cuda:-1"}) {
    expect_error(train("x", {"--device", device}), 2, {device, "cuda:N"});
  }
  const ProgramResult result = chargpt({"train", "--config", "t.json", "--out", "x", "--device", "cuda:77"},
                                       {.environment = {"CUDA_VISIBLE_DEVICES=5"}});
  expect_error(result, 2, {"cuda:77", "cpu", "CUDA_VISIBLE_DEVICES is \"5\""});
  EXPECT_FALSE(exists("x"));
  const ProgramResult automatic = train("y", {"--device", "auto"});
  EXPECT_EQ(automatic.code, 0);
  EXPECT_NE(automatic.err.find("parameters on c"), std::string::npos) << automatic.err;
}

}  // namespace
}  // namespace chargpt
