// What the flags and keys of the training loop do in the whole program: dry runs, ends, optimizers, averaged weights.

#include <array>

#include "app/support.hpp"
#include "chargpt/base/checkpoint_folder.hpp"

namespace chargpt {
namespace {

class TrainLoop : public ProgramTest {
 protected:
  Json report(const ProgramResult& result) const {
    EXPECT_EQ(result.code, 0) << result.err;
    return parse_json(result.out, {"stdout"});
  }
  Json stored_config(const std::string& run) const {
    return parse_json(read_file(dir_ / (run + "/config.json")), {run});
  }
};

TEST_F(TrainLoop, ADryRunSaysWhatTheRunTakesAndWritesNothing) {
  const Json json = report(train("a/r", {"--dry-run", "--json", "--set", "train.ema=0.9"}));
  EXPECT_FALSE(exists("a"));
  EXPECT_EQ(json["steps"], 50);
  EXPECT_EQ(json["characters"], 50 * 4 * 16);
  EXPECT_EQ(json["characters_per_epoch"], (18000 - 16) * 16);
  EXPECT_EQ(json["evaluations"], 2.0);
  const double parameters = json["parameters"].get<double>();
  EXPECT_DOUBLE_EQ(json["checkpoint_mib"].get<double>(), 4 * 4 * parameters / (1 << 20));
  EXPECT_EQ(json["fits"], true);
  for (const char* key : {"memory_mib", "free_mib", "peak_rss_mib", "step_seconds", "seconds"}) {
    EXPECT_GT(json[key].get<double>(), 0.0) << key;
  }
  const ProgramResult text = chargpt({"train", "--config", "t.json", "--dry-run"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("MiB a checkpoint"), std::string::npos) << text.out;
}

TEST_F(TrainLoop, ADryRunOfWhatNoMachineHoldsSaysSoWithoutAStep) {
  const std::vector<std::string> words = {
      "train", "--config",           "t.json", "--dry-run",          "--set", "model.attention=heads",
      "--set", "model.context=1024", "--set",  "train.batch=1048576"};
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const ProgramResult result = chargpt(as_json);
  const Json json = report(result);
  EXPECT_EQ(json["fits"], false);
  EXPECT_GT(json["memory_mib"].get<double>(), json["free_mib"].get<double>());
  EXPECT_FALSE(json.contains("step_seconds"));
  EXPECT_NE(result.err.find("warning: training will take about"), std::string::npos) << result.err;
  EXPECT_NE(chargpt(words).out.find("not measured"), std::string::npos);
}

TEST_F(TrainLoop, WhatNoMachineHoldsIsRefusedBeforeAnythingIsWritten) {
  const std::vector<std::string> more = {"--quiet", "--overwrite",        "--set", "model.attention=heads",
                                         "--set",   "model.context=1024", "--set", "train.batch=1048576"};
  expect_error(train("a/new", more), 77,
               {"out of memory: training takes about", " MiB are free", "train.micro_batch=auto",
                "train.batch (1048576)", "model.context (1024)"});
  EXPECT_FALSE(exists("a"));
  ASSERT_EQ(train("r").code, 0);
  const Json before = stored_config("r");
  EXPECT_EQ(train("r", more).code, 77);
  EXPECT_EQ(stored_config("r"), before);
  EXPECT_TRUE(exists("r/checkpoints/step-00000050"));
}

/// Of a pass of many windows more than of one, so that the program itself does not count.
TEST_F(TrainLoop, TheMemoryOfAPassIsNearItsEstimate) {
  // Whether the allocator is given huge pages is each system's choice, and changes what it cannot use again.
  const std::string small_pages = "glibc.malloc.hugetlb=0", huge_pages = "glibc.malloc.hugetlb=1";
  const auto sizes = [&](const std::string& pages, const std::string& path, const std::string& dropout, int windows) {
    const std::vector<std::string> settings = {
        "data.val_fraction=0", "model.width=64",           "model.heads=4",
        "model.context=128",   "model.layers=2",           "model.attention=" + path,
        "run.threads=1",       "model.dropout=" + dropout, "train.batch=" + std::to_string(windows)};
    std::vector<std::string> words = {"train", "--config", "t.json", "--dry-run", "--json", "--quiet"};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    const Json json = report(chargpt(words, {.environment = {"GLIBC_TUNABLES=" + pages}}));
    return std::pair(json["memory_mib"].get<double>(), json["peak_rss_mib"].get<double>());
  };
  const std::vector<std::array<std::string, 3>> cases = {{small_pages, "heads", "0"},
                                                         {small_pages, "heads", "0.2"},
                                                         {small_pages, "fused", "0"},
                                                         {small_pages, "fused", "0.2"},
                                                         {huge_pages, "fused", "0.2"}};
  for (const auto& [pages, path, dropout] : cases) {
    SCOPED_TRACE(testing::Message() << pages << ", " << path << ", dropout " << dropout);
    const auto [estimate_of_one, taken_by_one] = sizes(pages, path, dropout, 1);
    const auto [estimate, taken] = sizes(pages, path, dropout, 128);
    const double estimated = estimate - estimate_of_one, measured = taken - taken_by_one;
    EXPECT_LT(measured, 1.05 * estimated);
    EXPECT_GT(measured, 0.7 * estimated);
  }
}

TEST_F(TrainLoop, SaysWhyItStopped) {
  const Json whole = report(train("whole", {"--json"}));
  EXPECT_EQ(whole["stopped"], nullptr);
  const ProgramResult early =
      train("early", {"--json", "--set", "train.target_loss=3.5", "--set", "train.eval_every=1"});
  const Json json = report(early);
  EXPECT_EQ(json["finished"], true);
  EXPECT_EQ(json["stopped"], "target_loss");
  EXPECT_LE(json["best_loss"].get<double>(), 3.5);
  EXPECT_NE(early.err.find("train.target_loss 3.5"), std::string::npos) << early.err;
  EXPECT_NE(read_file(dir_ / "early/metrics.jsonl").find(R"("event":"end")"), std::string::npos);
}

TEST_F(TrainLoop, AutoBecomesANumberThatTheRunKeeps) {
  ASSERT_EQ(train("r", {"--set", "train.micro_batch=auto", "--set", "train.steps=2"}).code, 0);
  EXPECT_EQ(stored_config("r")["train"]["micro_batch"], 0);
  const std::vector<std::string> again = {"--resume", "auto", "--set", "train.micro_batch=2"};
  ASSERT_EQ(train("r", again).code, 0);
  const ProgramResult kept = train("r", {"--resume", "auto", "--set", "train.micro_batch=auto"});
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(stored_config("r")["train"]["micro_batch"], 2);
  EXPECT_EQ(kept.err.find("changed on resume: train.micro_batch"), std::string::npos) << kept.err;
}

TEST_F(TrainLoop, AnotherOptimizerIsRefusedOnAResumeWithBothValues) {
  ASSERT_EQ(train("r").code, 0);
  const std::string config = read_file(dir_ / "r/config.json");
  expect_error(chargpt({"train", "--resume", "r", "--set", "optimizer.name=sgd"}), 2,
               {"optimizer.name", "adamw", "sgd", "cannot change on a resume"});
  expect_error(chargpt({"train", "--resume", "r", "--set", "train.ema=0.5"}), 2, {"train.ema", "0.0", "0.5"});
  EXPECT_EQ(read_file(dir_ / "r/config.json"), config);
}

TEST_F(TrainLoop, ATypingErrorOfAutoIsPointedAt) {
  expect_error(train("r", {"--resume", "atuo"}), 2, {"--resume atuo", "did you mean auto?"});
  EXPECT_FALSE(exists("r"));
}

TEST_F(TrainLoop, ImpossibleCombinationsAreRefusedBeforeAnythingIsWritten) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases = {
      {{"schedule.warmup=51"}, {"schedule.warmup = 51", "50 steps"}},
      {{"schedule.name=wsd", "schedule.warmup=60 %", "schedule.decay=50 %"}, {"60 % (30 steps)", "50 % (25 steps)"}},
      {{"train.characters=5"}, {"train.steps = 50", "train.characters = 5"}},
      {{"train.patience=2", "train.eval_every=0"}, {"train.patience = 2", "train.eval_every = 0"}},
      {{"optimizer.momentum=0.9"}, {"optimizer.momentum = 0.9", "optimizer.name = adamw"}},
      {{"run.tf32=true", "run.device=cpu"}, {"run.tf32 = true", "run.device = cpu"}},
      {{"train.label_smoothing=1"}, {"train.label_smoothing", "got 1", "below 1"}},
      {{"train.ema=-0.1"}, {"train.ema", "got -0.1", "0 or more"}},
      {{"schedule.gamma=0"}, {"schedule.gamma", "got 0", "above 0"}},
      {{"train.micro_batch=5"}, {"train.micro_batch = 5", "train.batch = 4"}}};
  for (const auto& [keys, parts] : cases) {
    std::vector<std::string> words;
    for (const std::string& key : keys) words.insert(words.end(), {"--set", key});
    SCOPED_TRACE(keys[0]);
    expect_error(train("r", words), 2, parts);
    EXPECT_FALSE(exists("r"));
  }
}

TEST_F(TrainLoop, AScheduleThatDoesNotFitIntoItsEpochsIsRefusedToo) {
  expect_error(
      train("r", {"--quiet", "--set", "train.steps=0", "--set", "train.epochs=1", "--set", "schedule.warmup=9999"}), 2,
      {"schedule.warmup = 9999", "the run of 4496 steps"});
  EXPECT_FALSE(exists("r"));
}

class Weights : public TrainLoop {
 protected:
  void SetUp() override { ASSERT_EQ(train("r", {"--set", "train.ema=0.9"}).code, 0); }

  double loss(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"eval", "--run", "r", "--checkpoint", "last", "--json", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return report(chargpt(words))["nats_per_char"].get<double>();
  }
};

TEST_F(Weights, TheAverageIsEvaluatedUnlessTheRawOnesAreAskedFor) {
  EXPECT_EQ(loss({}), loss({"--weights", "ema"}));
  EXPECT_NE(loss({}), loss({"--weights", "raw"}));
}

TEST_F(Weights, BothAreSampledAndWhatIsNotThereIsRefused) {
  const auto sample = [&](const std::string& weights) {
    return chargpt({"sample", "--run", "r", "--length", "80", "--quiet", "--weights", weights});
  };
  EXPECT_EQ(sample("ema").out, chargpt({"sample", "--run", "r", "--length", "80", "--quiet"}).out);
  EXPECT_NE(sample("ema").out, sample("raw").out);
  expect_error(sample("best"), 2, {"--weights", "best", "ema or raw"});
  ASSERT_EQ(train("plain").code, 0);
  expect_error(chargpt({"sample", "--run", "plain", "--weights", "ema"}), 66, {"no average", "--weights raw"});
  const std::string file = "plain/checkpoints/step-00000050/model.safetensors";
  expect_error(chargpt({"sample", "--model", file, "--weights", "raw"}), 2, {"--weights", "--model"});
}

TEST_F(Weights, AreLookedAtByInspect) {
  EXPECT_EQ(report(chargpt({"inspect", "r", "--json"}))["ema"], true);
  const std::string file = dir_ / "r/checkpoints/step-00000050/ema.safetensors";
  std::string bytes = read_file(file);
  bytes[bytes.size() - 1] ^= 1;
  write_file_atomically(file, bytes);
  EXPECT_EQ(chargpt({"inspect", "r/checkpoints/step-00000050"}).code, 78);
}

}  // namespace
}  // namespace chargpt
