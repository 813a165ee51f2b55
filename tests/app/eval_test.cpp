#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "app/support.hpp"

namespace chargpt {
namespace {

class Eval : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(train("runs/r").code, 0); }

  /// The JSON document of an eval that must succeed.
  Json eval(std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", "--quiet", "--json"});
    const ProgramResult result = chargpt(more);
    EXPECT_EQ(result.code, 0) << result.err;
    return parse_json(result.out, {.source = "stdout"});
  }

  std::vector<Json> json_lines(const std::string& name) const {
    std::vector<Json> lines;
    std::ifstream file(dir_ / name);
    for (std::string line; std::getline(file, line);) lines.push_back(parse_json(line, {.source = name}));
    return lines;
  }
};

TEST_F(Eval, SaysAllThatTheSchemaPromises) {
  const Json json = eval({});
  for (const char* name :
       {"v", "model", "text", "step", "nats_per_char", "standard_error", "perplexity", "bits_per_char", "bits_per_byte",
        "characters", "bytes", "unknown_characters", "unknown", "mode", "stride"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  const double nats = json["nats_per_char"].get<double>();
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp(nats), 1e-9);
  EXPECT_NEAR(json["bits_per_char"].get<double>(), nats / std::log(2.0), 1e-9);
  EXPECT_EQ(json["stride"], 16);
  EXPECT_TRUE(json["standard_error"].is_null());
}

TEST_F(Eval, EveryModeScoresAndSaysHow) {
  const Json windows = eval({}), sliding = eval({"--mode", "sliding", "--stride", "1"});
  EXPECT_EQ(sliding["characters"], windows["characters"]);
  EXPECT_LT(sliding["nats_per_char"].get<double>(), windows["nats_per_char"].get<double>());  // more to predict from
  EXPECT_EQ(sliding["stride"], 1);
  const Json all = eval({"--mode", "windows", "--stride", "1"}), random = eval({"--mode", "random"});
  EXPECT_EQ(random["characters"], 10000 * 16);
  EXPECT_NEAR(random["nats_per_char"].get<double>(), all["nats_per_char"].get<double>(),
              4 * random["standard_error"].get<double>());
  expect_error(chargpt({"eval", "--quiet", "--mode", "slide"}), 2, {"--mode", "eval.mode", "sliding"});
}

TEST_F(Eval, KeysThatChangeNothingInAModeAreSaid) {
  const ProgramResult random = chargpt({"eval", "--quiet", "--mode", "random", "--stride", "3", "--windows", "20"});
  EXPECT_EQ(random.code, 0);
  EXPECT_NE(random.err.find("eval.stride"), std::string::npos) << random.err;
  EXPECT_EQ(random.err.find("eval.windows"), std::string::npos) << random.err;
  EXPECT_NE(chargpt({"eval", "--quiet", "--windows", "20"}).err.find("eval.windows"), std::string::npos);
}

TEST_F(Eval, RandomGivesTheNumberThatTrainingPrinted) {
  const ProgramResult trained = train("again", {"--json", "--set", "eval.mode=random", "--set", "eval.windows=50"});
  const double last = parse_json(trained.out, {.source = "stdout"})["last_loss"].get<double>();
  const Json json = eval({"--run", "again", "--checkpoint", "last"});
  EXPECT_EQ(json["mode"], "random");
  EXPECT_NEAR(json["nats_per_char"].get<double>(), last, 1e-6);
}

TEST_F(Eval, PerCharLinesAddUpToTheWhole) {
  const Json json = eval({"--data", "d.txt", "--per-char", "chars.jsonl"});
  const auto lines = json_lines("chars.jsonl");
  ASSERT_EQ(lines.size(), json["characters"].get<std::size_t>());
  const std::string text = plain_text();
  double nats = 0.0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    nats += lines[i]["nats"].get<double>();
    ASSERT_EQ(lines[i]["offset"], i + 1);
    ASSERT_EQ(lines[i]["char"], std::string(1, text[i + 1]));
    ASSERT_EQ(lines[i]["document"], 1);
    ASSERT_GE(lines[i]["rank"].get<int>(), 1);
    ASSERT_GE(lines[i]["entropy"].get<double>(), 0.0);
  }
  EXPECT_NEAR(nats / static_cast<double>(lines.size()), json["nats_per_char"].get<double>(), 1e-9);
}

TEST_F(Eval, PerCharLinesGoThroughAPipeOrToStandardOutputAsTheyCome) {
  const auto wanted = eval({"--per-char", "chars.jsonl"})["characters"].get<std::size_t>();
  const std::string of_file = read_file(dir_ / "chars.jsonl");
  const std::string eval = "\"$0\" eval --quiet --json --per-char ";
  const std::string scripts =
      "mkfifo pipe; cat pipe > piped & " + eval + "pipe > /dev/null; wait; " + eval + "/dev/stdout > redirected";
  const ProgramResult result = run_program({"/bin/bash", "-c", scripts, CHARGPT_PROGRAM}, {.folder = dir_.path()});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_file(dir_ / "piped"), of_file);
  EXPECT_EQ(read_file(dir_ / "redirected").substr(0, of_file.size()), of_file);
  EXPECT_EQ(json_lines("redirected").size(), wanted + 1);  // the result behind the characters
}

TEST_F(Eval, PerCharNeedsAPlaceToWriteTo) {
  expect_error(chargpt({"eval", "--quiet", "--per-char", "none/x"}), 73, {"none/x: the folder none does not exist"});
  expect_error(chargpt({"eval", "--quiet", "--per-char", "."}), 73, {"it is a folder"});
}

TEST_F(Eval, UnknownCharactersAreRefusedLeftOutOrCharged) {
  dir_.write("other.txt", "the cat \u00e9 sat \u6f22\n");
  const Json skip = eval({"--data", "other.txt"});
  EXPECT_EQ(skip["unknown_characters"], 2);
  EXPECT_EQ(skip["unknown"], "skip");
  expect_error(chargpt({"eval", "--quiet", "--data", "other.txt", "--unknown", "error"}), 65,
               {"2 characters", "other.txt", "U+00E9", "--unknown"});
  const Json charge = eval({"--data", "other.txt", "--unknown", "charge", "--set", "eval.unknown_nats=10", "--per-char",
                            "chars.jsonl", "--by", "class"});
  const auto scored = skip["characters"].get<int>();
  EXPECT_EQ(charge["characters"], scored + 2);
  EXPECT_EQ(charge["bytes"], skip["bytes"].get<int>() + 2 + 3);
  EXPECT_NEAR(charge["nats_per_char"].get<double>() * (scored + 2), skip["nats_per_char"].get<double>() * scored + 20,
              1e-6);
  const auto lines = json_lines("chars.jsonl");
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(scored + 2));
  EXPECT_EQ(lines.back()["offset"], 14);
  EXPECT_EQ(lines.back()["nats"], 10.0);
  EXPECT_TRUE(lines.back()["rank"].is_null());
  for (const std::vector<std::string>& mode : {std::vector<std::string>{"random"}, {"windows", "--stride", "1"}}) {
    std::vector<std::string> words = {"eval", "--quiet", "--data", "other.txt", "--unknown", "charge", "--mode"};
    words.insert(words.end(), mode.begin(), mode.end());
    expect_error(chargpt(words), 2, {"--unknown charge", "scored once", mode[0]});
  }
  const ProgramResult told = chargpt({"eval", "--data", "other.txt", "--unknown", "charge"});
  EXPECT_NE(told.err.find("13.92 nats"), std::string::npos) << told.err;
}

TEST_F(Eval, NeverWritesOverWhatItReadsOrWhatARunHolds) {
  dir_.write("two.txt", "the cat\nsat on mat 7, and\n");
  expect_error(chargpt({"eval", "--quiet", "--data", "two.txt", "--per-char", "two.txt"}), 2,
               {"--per-char two.txt", "overwritten"});
  EXPECT_EQ(read_file(dir_ / "two.txt"), "the cat\nsat on mat 7, and\n");
  const std::string config = "runs/r/config.json";
  const std::string before = read_file(dir_ / config);
  expect_error(chargpt({"eval", "--quiet", "--per-char", config}), 2, {config});
  EXPECT_EQ(read_file(dir_ / config), before);
}

TEST_F(Eval, PartsAddUpToTheWhole) {
  dir_.write("two.txt", "the cat\nsat on mat 7, and\n");
  const std::map<std::string, std::vector<std::string>> wanted = {
      {"document", {"1"}}, {"line", {"1", "2"}}, {"class", {"letter", "digit", "space", "punctuation"}}};
  for (const auto& [by, parts] : wanted) {
    const Json json = eval({"--data", "two.txt", "--by", by});
    double nats = 0.0;
    std::int64_t characters = 0;
    std::vector<std::string> names;
    for (const Json& part : json["parts"]) {
      nats += part["nats_per_char"].get<double>() * part["characters"].get<double>();
      characters += part["characters"].get<std::int64_t>();
      names.push_back(part["part"].get<std::string>());
    }
    EXPECT_EQ(characters, json["characters"]) << by;
    EXPECT_NEAR(nats / static_cast<double>(characters), json["nats_per_char"].get<double>(), 1e-9) << by;
    EXPECT_EQ(names, parts) << by;
  }
  expect_error(chargpt({"eval", "--quiet", "--by", "word"}), 2, {"--by", "word", "document, line or class"});
}

/// Its weights are finite, its losses are not.
TEST_F(Eval, AModelWithoutALossIsRefused) {
  const ProgramResult trained = train("runs/wild", {"--quiet", "--set", "optimizer.learning_rate=1e30", "--set",
                                                    "train.steps=1", "--set", "data.val_fraction=0"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::vector<std::string> words = {"eval",   "--quiet", "--run",      "runs/wild",
                                          "--data", "d.txt",   "--per-char", "chars.jsonl"};
  expect_error(chargpt(words), 78, {"runs/wild", "not finite"});
  for (const std::string& name : names_in(dir_.path())) {
    EXPECT_EQ(name.find("chars.jsonl"), std::string::npos) << name << " is left";
  }
}

TEST_F(Eval, AllCheckpointsMakeOneTable) {
  const Json all = eval({"--checkpoint", "all"});
  std::map<std::int64_t, double> losses;
  for (const Json& row : all["checkpoints"])
    losses[row["step"].get<std::int64_t>()] = row["nats_per_char"].get<double>();
  ASSERT_GE(losses.size(), 2U);
  for (const auto& [step, loss] : losses) {
    EXPECT_EQ(eval({"--checkpoint", std::to_string(step)})["nats_per_char"].get<double>(), loss);
  }
  const std::string text = chargpt({"eval", "--quiet", "--checkpoint", "all", "--by", "class", "--baselines"}).out;
  for (const char* part : {"bits_per_char", "step 40\n", "step 50\n", "letter", "5-gram"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "lacks " << part;
  }
  expect_error(chargpt({"eval", "--quiet", "--checkpoint", "all", "--per-char", "x"}), 2,
               {"--per-char", "--checkpoint"});
}

TEST_F(Eval, BaselinesStandBesideTheModel) {
  const Json baselines = eval({"--baselines"})["baselines"];
  const std::string text = plain_text();
  const std::size_t kinds = std::set<char>(text.begin(), text.end()).size();
  EXPECT_NEAR(baselines["uniform"].get<double>(), std::log(static_cast<double>(kinds)), 1e-9);
  EXPECT_LT(baselines["unigram"].get<double>(), baselines["uniform"].get<double>());
  EXPECT_LT(baselines["5-gram"].get<double>(), baselines["unigram"].get<double>());
  expect_error(chargpt({"eval", "--model", "x.safetensors", "--data", "d.txt", "--baselines"}), 2, {"--baselines"});
}

TEST_F(Eval, AComparisonIsPairedAndHasAnInterval) {
  ASSERT_EQ(train("runs/short", {"--set", "train.steps=1"}).code, 0);
  const Json json = eval({"--run", "runs/r", "--compare", "runs/short"});
  const Json& comparison = json["comparison"];
  const double other = eval({"--run", "runs/short"})["nats_per_char"].get<double>();
  EXPECT_EQ(comparison["characters"], json["characters"]);
  EXPECT_NEAR(comparison["difference"].get<double>(), other - json["nats_per_char"].get<double>(), 1e-6);
  EXPECT_LT(0.0, comparison["low"].get<double>());
  EXPECT_LT(comparison["low"].get<double>(), comparison["difference"].get<double>());
  EXPECT_LT(comparison["difference"].get<double>(), comparison["high"].get<double>());
  const Json self = eval({"--run", "runs/r", "--compare", "runs/r"})["comparison"];
  EXPECT_EQ(self["difference"], 0.0);
  expect_error(chargpt({"eval", "--run", "runs/r", "--compare", "runs/r", "--mode", "random"}), 2, {"--compare"});
}

TEST_F(Eval, AModelOfAnotherVocabularyIsComparedOverWhatBothScore) {
  std::string letters = plain_text();
  std::erase_if(letters, [](char c) { return c >= '0' && c <= '9'; });
  dir_.write("letters.txt", letters);
  ASSERT_EQ(train("runs/letters", {"--data", "letters.txt"}).code, 0);
  const Json json = eval({"--run", "runs/r", "--compare", "runs/letters", "--by", "class"});
  std::int64_t digits = 0;
  for (const Json& part : json["parts"]) digits += part["part"] == "digit" ? part["characters"].get<std::int64_t>() : 0;
  EXPECT_GT(digits, 0);
  EXPECT_EQ(json["comparison"]["characters"], json["characters"].get<std::int64_t>() - digits);
  ASSERT_EQ(train("runs/bytes", {"--set", "data.format=bytes"}).code, 0);
  expect_error(chargpt({"eval", "--run", "runs/r", "--compare", "runs/bytes", "--quiet"}), 2,
               {"runs/r", "characters (data.normalize none)", "runs/bytes", "reads bytes", "bits_per_byte"});
  const ProgramResult told = chargpt({"eval", "--run", "runs/r", "--compare", "runs/letters"});
  EXPECT_NE(told.err.find("not in the vocabulary"), std::string::npos) << told.err;
}

}  // namespace
}  // namespace chargpt
