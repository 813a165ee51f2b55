#include <signal.h>

#include "app/support.hpp"
#include "chargpt/base/checkpoint_folder.hpp"

namespace chargpt {
namespace {

class Train : public ProgramTest {
 protected:
  std::string weights(const std::string& run, std::int64_t step) const {
    return read_file(dir_ / (run + "/checkpoints/" + checkpoint_name(step) + "/model.safetensors"));
  }
  std::string optimizer(const std::string& run, std::int64_t step) const {
    return read_file(dir_ / (run + "/checkpoints/" + checkpoint_name(step) + "/optimizer.safetensors"));
  }
  std::vector<Json> metrics(const std::string& run) const {
    std::vector<Json> records;
    const std::string text = read_file(dir_ / (run + "/metrics.jsonl"));
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      records.push_back(parse_json(text.substr(begin, text.find('\n', begin) - begin), {"metrics"}));
      records.back().erase("seconds");
    }
    return records;
  }
};

TEST_F(Train, WritesARunFolderAndSaysSo) {
  const ProgramResult result = train("a/b/r", {"--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const std::string name :
       {"config.json", "metrics.jsonl", "log.txt", "checkpoints/best", "checkpoints/step-00000050/manifest.json"}) {
    EXPECT_TRUE(exists("a/b/r/" + name)) << name;
  }
  const Json report = parse_json(result.out, {"stdout"});
  EXPECT_TRUE(report["finished"].get<bool>());
  EXPECT_EQ(report["step"], 50);
  EXPECT_NE(result.err.find("best: validation loss"), std::string::npos);
  EXPECT_EQ(result.err.find('\r'), std::string::npos);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(Train, ItsResolvedConfigReproducesTheRun) {
  ASSERT_EQ(train("r").code, 0);
  ASSERT_EQ(chargpt({"train", "--config", "r/config.json", "--out", "again"}).code, 0);
  EXPECT_EQ(weights("r", 50), weights("again", 50));
  EXPECT_EQ(metrics("r"), metrics("again"));
}

TEST_F(Train, RefusesAFolderThatHoldsARun) {
  ASSERT_EQ(train("r").code, 0);
  expect_error(train("r"), 2, {"r holds a run already", "--resume", "--overwrite"});
  EXPECT_EQ(train("r", {"--overwrite", "--set", "train.steps=20"}).code, 0);
  EXPECT_EQ(list_checkpoints(dir_ / "r/checkpoints").back(), 20);
}

TEST_F(Train, LeavesAForeignFolderAlone) {
  std::filesystem::create_directory(dir_ / "home");
  dir_.write("home/thesis.tex", "precious");
  expect_error(train("home"), 2, {"home is not empty"});
  expect_error(train("d.txt"), 73, {"d.txt is a file"});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_ / "home"), {}), 1);
}

TEST_F(Train, AMistakeLeavesNoFolderBehind) {
  expect_error(train("x", {"--set", "model.heads=3"}), 2, {"model.width", "32", "model.heads", "3"});
  expect_error(train("x", {"--data", "missing.txt"}), 66, {"missing.txt"});
  dir_.write("empty.txt", "");
  expect_error(train("x", {"--data", "empty.txt"}), 65, {"empty.txt", "file is empty"});
  expect_error(train("x/y/z", {"--data", "empty.txt"}), 65, {"empty.txt", "file is empty"});
  dir_.write("short.txt", "0123456789");
  expect_error(train("x", {"--data", "short.txt"}), 65, {"short.txt", "17", "model.context"});
  dir_.write("latin.txt", plain_text().substr(0, 7047) + "\x92" + plain_text());
  expect_error(train("x", {"--data", "latin.txt"}), 65, {"latin.txt", "7047", "0x92"});
  expect_error(chargpt({"train", "--config", "t.json"}), 2, {"--out"});
  expect_error(chargpt({"train", "--out", "x"}), 2, {"--data"});
  expect_error(train("x", {"--resume", "r"}), 2, {"--out"});
  expect_error(chargpt({"train", "--resume", "nowhere"}), 66, {"nowhere"});
  EXPECT_FALSE(exists("x"));
}

TEST_F(Train, FillsPlaceholdersOfTheFolderName) {
  ASSERT_EQ(train("runs/b{train.batch}-s{run.seed}").code, 0);
  EXPECT_TRUE(exists("runs/b4-s1/config.json"));
  expect_error(train("runs/{batch}"), 2, {"{batch}"});
}

TEST_F(Train, ResumeAutoStartsAndThenContinuesExactly) {
  ASSERT_EQ(train("straight").code, 0);
  ASSERT_EQ(train("r", {"--resume", "auto", "--set", "train.steps=20"}).code, 0);
  const ProgramResult resumed = train("r", {"--resume", "auto"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming r at step 20 of 50"), std::string::npos) << resumed.err;
  EXPECT_NE(resumed.err.find("train.steps, was 20, is now 50"), std::string::npos) << resumed.err;
  EXPECT_EQ(weights("r", 50), weights("straight", 50));
  EXPECT_EQ(optimizer("r", 50), optimizer("straight", 50));
}

TEST_F(Train, ResumeRefusesKeysThatMakeAnotherRun) {
  ASSERT_EQ(train("r").code, 0);
  expect_error(chargpt({"train", "--resume", "r", "--set", "model.width=64"}), 2, {"model.width", "32", "64"});
  expect_error(chargpt({"train", "--resume", "r", "--set", "run.seed=9"}), 2, {"run.seed"});
  dir_.write("d.txt", plain_text().substr(0, 10000));
  const ProgramResult other_data = chargpt({"train", "--resume", "r", "--quiet"});
  expect_error(other_data, 65, {"data differs", "10000", "200"});
}

TEST_F(Train, ResumesOnOtherDataOnlyWhereThatIsAllowed) {
  ASSERT_EQ(train("r").code, 0);
  dir_.write("d.txt", plain_text().substr(0, 10000));
  const std::vector<std::string> words = {"train", "--resume", "r", "--set", "train.steps=60", "--allow-data-change"};
  const ProgramResult allowed = chargpt(words);
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_NE(allowed.err.find("warning: the data differs"), std::string::npos) << allowed.err;
  dir_.write("d.txt", std::string(5000, 't') + " the cat");  // most characters of the vocabulary do not occur
  const ProgramResult fewer = chargpt(words);
  EXPECT_EQ(fewer.code, 0) << fewer.err;
  dir_.write("d.txt", plain_text() + "ZZZ");
  const ProgramResult unknown = chargpt(words);
  EXPECT_EQ(unknown.code, 65);
  EXPECT_NE(unknown.err.find("U+005A"), std::string::npos) << unknown.err;
}

TEST_F(Train, AResumeOfACheckpointNamesItsRun) {
  ASSERT_EQ(train("r").code, 0);
  expect_error(chargpt({"train", "--resume", "r/checkpoints/step-00000050", "--quiet"}), 2,
               {"that is a checkpoint", "--resume ", "/r\n"});
}

TEST_F(Train, AResumeForFewerStepsThanAreDoneIsAMistake) {
  ASSERT_EQ(train("r").code, 0);
  const std::string config = read_file(dir_ / "r/config.json");
  expect_error(chargpt({"train", "--resume", "r", "--set", "train.steps=20", "--quiet"}), 2,
               {"r has done 50 steps", "20 in all", "train.steps"});
  EXPECT_EQ(read_file(dir_ / "r/config.json"), config);
  EXPECT_EQ(chargpt({"train", "--resume", "r"}).code, 0) << "a finished run is finished again";
}

TEST_F(Train, CountsSkippedStepsInTheMetrics) {
  const ProgramResult result = train("r", {"--set", "optimizer.learning_rate=1e30", "--set", "train.on_nonfinite=skip",
                                           "--set", "train.steps=5", "--set", "data.val_fraction=0"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: step 2 was skipped: loss"), std::string::npos) << result.err;
  const auto records = metrics("r");
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(std::count_if(records.begin(), records.end(), [](const Json& r) { return r.contains("skipped"); }), 4);
}

TEST_F(Train, OneRunAFolder) {
  int other_code = -1;
  std::string other_error;
  ProgramOptions options;
  options.on_stderr = [&](pid_t, const std::string& err) {
    if (other_code >= 0 || err.find("starting r") == std::string::npos) return;
    const ProgramResult other = train("r", {"--resume", "auto"});
    other_code = other.code;
    other_error = other.err;
  };
  const ProgramResult first =
      chargpt({"train", "--config", "t.json", "--out", "r", "--set", "train.steps=3000"}, options);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(other_code, 75) << other_error;
  EXPECT_NE(other_error.find("process"), std::string::npos) << other_error;
}

TEST_F(Train, ASignalSavesAndTheResumedRunIsTheUninterruptedOne) {
  const std::vector<std::string> words = {
      "train", "--config",         "t.json", "--out", "r", "--set", "train.steps=1500", "--set", "train.log_every=20",
      "--set", "model.dropout=0.2"};
  for (const int signal : {SIGINT, SIGTERM}) {
    bool sent = false;
    ProgramOptions options;
    options.on_stderr = [&](pid_t pid, const std::string& err) {
      if (!sent && err.find("step 40/1500") != std::string::npos) sent = kill(pid, signal) == 0;
    };
    std::vector<std::string> resumable = words;
    resumable.insert(resumable.end(), {"--resume", "auto"});
    const ProgramResult stopped = chargpt(resumable, options);
    ASSERT_EQ(stopped.code, 128 + signal) << stopped.err;
    EXPECT_NE(stopped.err.find("stopped and saved"), std::string::npos);
    ASSERT_EQ(chargpt(resumable).code, 0);
    auto straight = words;
    straight[4] = "straight";
    ASSERT_EQ(chargpt(straight).code, 0);
    EXPECT_EQ(weights("r", 1500), weights("straight", 1500));
    EXPECT_EQ(metrics("r"), metrics("straight"));
    std::filesystem::remove_all(dir_ / "r");
    std::filesystem::remove_all(dir_ / "straight");
  }
}

TEST_F(Train, DivergenceStopsAtOnceWithAReason) {
  const ProgramResult result = train("r", {"--set", "optimizer.learning_rate=1e30", "--quiet"});
  EXPECT_EQ(result.code, 76) << result.err;
  for (const std::string part : {"diverged at step", "learning rate", "gradient norm"}) {
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
}

TEST_F(Train, ThreadsAreObeyed) {
  ASSERT_EQ(train("r", {"--threads", "1"}).code, 0);
  const Json manifest = parse_json(read_file(dir_ / "r/checkpoints/step-00000050/manifest.json"), {"manifest"});
  EXPECT_EQ(manifest["build"]["threads"], 1);
}

TEST_F(Train, InitStartsANewRunWithAFilesWeightsAndSaysSo) {
  ASSERT_EQ(train("r").code, 0);
  const std::string file = "r/checkpoints/step-00000050/model.safetensors";
  const ProgramResult result = train("again", {"--init", file, "--set", "train.keep=9"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err.rfind("starting again at step 0 of 50 with the weights of " + file, 0), 0U) << result.err;
  EXPECT_NE(result.err.find("0 new characters start fresh"), std::string::npos) << result.err;
  EXPECT_EQ(weights("again", 0), weights("r", 50));
  EXPECT_NE(weights("again", 50), weights("r", 50));
}

TEST_F(Train, InitGoesWithResumeAutoButNotWithTheResumeOfANamedRun) {
  const std::string file = "r/checkpoints/step-00000050/model.safetensors";
  ASSERT_EQ(train("r").code, 0);
  expect_error(chargpt({"train", "--resume", "r", "--init", file}), 2, {"--init", "--resume", "one of them"});
  const std::vector<std::string> either = {"--resume", "auto", "--init", file, "--set", "train.keep=9"};
  ASSERT_EQ(train("again", either).code, 0);
  const ProgramResult second = train("again", {"--resume", "auto", "--init", file, "--set", "train.steps=60"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.err.rfind("resuming again at step 50 of 60", 0), 0U) << second.err;
}

TEST_F(Train, InitWithAFileThatIsMissingOrDoesNotFitChangesNothing) {
  ASSERT_EQ(train("r").code, 0);
  const std::string before = weights("r", 50);
  const std::string file = "r/checkpoints/step-00000050/model.safetensors";
  expect_error(train("new", {"--init", "nowhere.safetensors"}), 66, {"nowhere.safetensors"});
  expect_error(train("new", {"--init", file, "--set", "model.context=8"}), 78, {"pos_emb.weight", "context 8"});
  EXPECT_FALSE(exists("new"));
  std::filesystem::copy_file(dir_ / file, dir_ / "weights");
  const std::vector<std::string> misfit = {"--overwrite", "--init", "weights", "--set", "model.layers=2"};
  expect_error(train("r", misfit), 78, {"blocks.1.", "layers 2"});
  EXPECT_EQ(weights("r", 50), before);
}

TEST_F(Train, HelpTellsInitAndResumeApart) {
  const std::string help = chargpt({"train", "--help"}).out;
  for (const std::string part : {"Start a new run, at step 0", "Continue the run in DIR"}) {
    EXPECT_NE(help.find(part), std::string::npos) << help;
  }
}

}  // namespace
}  // namespace chargpt
