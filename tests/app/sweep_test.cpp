#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "app/support.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/thread_pool.hpp"

namespace chargpt {
namespace {

class Sweep : public ProgramTest {
 protected:
  Sweep() { dir_.write("g.json", R"({"grid": {"model.width": [8, 16]}, "seeds": 2})"); }

  ProgramResult sweep(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"sweep", "--config", "t.json", "--grid", "g.json", "--set", "train.steps=20"};
    words.insert(words.end(), more.begin(), more.end());
    return chargpt(words);
  }

  Json table(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"sweep", "table", "s", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = chargpt(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return parse_json(result.out, {"stdout"})["rows"];
  }

  std::string weights(const std::string& run) const {
    const std::string checkpoints = dir_ / (run + "/checkpoints");
    return read_file(checkpoints + "/" + checkpoint_name(list_checkpoints(checkpoints).back()) + "/model.safetensors");
  }

  std::string log(const std::string& run) const { return read_file(dir_ / (run + "/log.txt")); }

  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  }
};

TEST_F(Sweep, DryRunListsTheRunsAndWritesNothing) {
  const ProgramResult result = sweep({"--out", "s", "--dry-run", "--json", "--workers", "2"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json report = parse_json(result.out, {"stdout"});
  ASSERT_EQ(report["runs"].size(), 4U);
  EXPECT_EQ(report["runs"][3]["run"], "width=16,seed=2");
  EXPECT_EQ(report["runs"][3]["index"], 3);
  EXPECT_EQ(report["runs"][0]["steps"], 20);
  EXPECT_EQ(report["runs"][0]["characters"], 20 * 4 * 16);
  EXPECT_GT(report["runs"][2]["parameters"], report["runs"][0]["parameters"]);
  EXPECT_EQ(report["workers"], 2);
  EXPECT_EQ(report["to_do"], 4);
  EXPECT_EQ(report["runs"][0]["ended"], false);
  EXPECT_GT(report["estimated_seconds"].get<double>(), 0);
  EXPECT_FALSE(exists("s"));
  EXPECT_NE(sweep({"--dry-run"}).out.find("4 of 4 runs to do"), std::string::npos);
  ASSERT_EQ(sweep({"--out", "s", "--index", "1"}).code, 0);
  EXPECT_NE(sweep({"--out", "s", "--dry-run"}).out.find("3 of 4 runs to do"), std::string::npos);
}

TEST_F(Sweep, TheDataIsReadOnce) {
  ProgramOptions options;
  options.on_stderr = [&](pid_t, const std::string&) { dir_.write("d.txt", std::string(20000, 'x')); };
  const ProgramResult result = chargpt(
      {"sweep", "--config", "t.json", "--grid", "g.json", "--out", "s", "--set", "train.steps=20", "--workers", "1"},
      options);
  ASSERT_EQ(result.code, 0) << result.err;
  dir_.write("d.txt", plain_text());
  ASSERT_EQ(train("alone", {"--set", "train.steps=20", "--set", "model.width=16", "--set", "run.seed=2"}).code, 0);
  EXPECT_TRUE(weights("s/width=16,seed=2") == weights("alone"));
}

TEST_F(Sweep, WhatTheMachineLacksIsFoundBeforeTheFirstRun) {
  dir_.write("g.json", R"({"grid": {"run.device": ["cpu", "cuda:99"]}})");
  expect_error(sweep({"--out", "s"}), 2, {"device=cuda_99: run.device is \"cuda:99\""});
  dir_.write("g.json", R"({"grid": {"run.threads": [1, 4000]}})");
  expect_error(sweep({"--out", "s", "--set", "run.pin=true"}), 2, {"threads=4000: run.pin binds each of 4000 threads"});
  dir_.write("g.json", R"({"list": [{}, {"model.width": 65536, "model.layers": 48}]})");
  expect_error(sweep({"--out", "s"}), 77, {"width=65536", "parameters take"});
  EXPECT_FALSE(exists("s"));
}

std::string processors_of(const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  std::string line;
  while (std::getline(status, line) && !line.starts_with("Cpus_allowed_list:")) continue;
  return line;
}

/// Two sweeps, or two jobs of an array, would else compete for the first ones.
TEST_F(Sweep, WorkersArePinnedOnlyWhereTheyTakeAllProcessors) {
  const std::string cores = std::to_string(usable_threads());
  dir_.write("g.json", R"({"seeds": )" + cores + "}");
  const auto watched = [&](const std::vector<std::string>& more, std::size_t workers, const auto& as_wanted) {
    ProgramOptions options;
    bool seen = false;
    options.on_stderr = [&, sent = false](pid_t pid, const std::string&) mutable {
      if (std::exchange(sent, true)) return;
      const std::string id = std::to_string(pid), children = "/proc/" + id + "/task/" + id + "/children";
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!seen && std::chrono::steady_clock::now() < until) {
        std::ifstream text(children);
        const std::vector<std::string> found(std::istream_iterator<std::string>(text), {});
        const bool begun = exists("s/seed=1/checkpoints/best") || exists("s/run/checkpoints/best");
        seen = begun && found.size() == workers && std::all_of(found.begin(), found.end(), as_wanted);
        usleep(1000);
      }
      kill(pid, SIGTERM);
    };
    std::vector<std::string> words = {"sweep", "--config",           "t.json", "--grid", "g.json", "--out", "s",
                                      "--set", "train.steps=1000000"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(chargpt(words, options).code, 143);
    return seen;
  };
  const auto has_one = [](const std::string& pid) {
    return processors_of(pid).find_first_of("-,") == std::string::npos;
  };
  const auto has_all = [](const std::string& pid) { return processors_of(pid) == processors_of("self"); };
  EXPECT_TRUE(watched({}, static_cast<std::size_t>(usable_threads()), has_one));
  std::filesystem::remove_all(dir_ / "s");
  EXPECT_TRUE(watched({"--index", "0"}, 1, has_all));
}

TEST_F(Sweep, TheReportShowsTheRunsThatHaveBegun) {
  dir_.write("g.json", R"({"grid": {"optimizer.learning_rate": [1e30, 1e-3], "model.width": [8, 16]}})");
  ASSERT_EQ(sweep({"--out", "s"}).code, 1);
  std::filesystem::create_directory(dir_ / "s/begins");
  dir_.write("s/begins/config.json", "{}");
  const ProgramResult result = chargpt({"metrics", "report", "s", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("there is no s/begins/metrics.jsonl yet"), std::string::npos) << result.err;
  const std::string page = read_file(dir_ / "report.html");
  EXPECT_NE(page.find(R"("varied":["model.width","optimizer.learning_rate"])"), std::string::npos);
}

TEST_F(Sweep, EachRunIsWhatTrainAloneGives) {
  const ProgramResult result = sweep({"--out", "s", "--json", "--workers", "2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(parse_json(result.out, {"stdout"}),
            (Json{{"v", 1}, {"sweep", "s"}, {"runs", 4}, {"finished", 4}, {"failed", 0}, {"stopped", 0}}));
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(count(result.err, ": finished, validation loss"), 4U) << result.err;
  ASSERT_EQ(train("alone", {"--set", "train.steps=20", "--set", "model.width=16", "--set", "run.seed=2"}).code, 0);
  EXPECT_TRUE(weights("s/width=16,seed=2") == weights("alone"));
  EXPECT_EQ(read_file(dir_ / "s/width=16,seed=2/config.json"), read_file(dir_ / "alone/config.json"));
}

TEST_F(Sweep, NothingIsRepeatedAndOnlyNewValuesRun) {
  ASSERT_EQ(sweep({"--out", "s"}).code, 0);
  const std::string before = log("s/width=8,seed=1");
  const ProgramResult again = sweep({"--out", "s"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("4 of 4 runs finished"), std::string::npos) << again.err;
  dir_.write("g.json", R"({"grid": {"model.width": [8, 16, 24]}, "seeds": 1})");
  const ProgramResult more = sweep({"--out", "s"});
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_NE(more.err.find("1 of 3 runs to do"), std::string::npos) << more.err;
  EXPECT_EQ(log("s/width=8,seed=1"), before);
  EXPECT_EQ(table().size(), 5U);
}

TEST_F(Sweep, TheTableIsWhatTheRunFoldersHold) {
  ASSERT_EQ(sweep({"--out", "s"}).code, 0);
  const Json rows = table({"--sort", "run"});
  ASSERT_EQ(rows.size(), 4U);
  for (const Json& row : rows) {
    const std::string metrics = read_file(dir_ / (row["run"].get<std::string>() + "/metrics.jsonl"));
    const auto last = metrics.rfind("\"evaluation\"");
    EXPECT_NE(metrics.find(row["final_loss"].dump(), last), std::string::npos);
    EXPECT_EQ(row["step"], 20);
  }
  EXPECT_EQ(table({"--group"}).size(), 2U);
  EXPECT_EQ(table({"--where", "model.width=8"}).size(), 2U);
  const ProgramResult text = chargpt({"sweep", "table", "s"});
  EXPECT_NE(text.out.find("model.width"), std::string::npos);
  EXPECT_NE(text.err.find("best: s/width="), std::string::npos);
  EXPECT_EQ(count(chargpt({"sweep", "table", "s", "--format", "csv"}).out, "\n"), 5U);
  EXPECT_EQ(count(chargpt({"sweep", "table", "s", "--format", "markdown", "--group"}).out, "\n"), 4U);
  expect_error(chargpt({"sweep", "table", "s", "--sort", "best"}), 2, {"no column \"best\""});
  expect_error(chargpt({"sweep", "table", "s", "--where", "best"}), 2, {"COLUMN=VALUE"});
  expect_error(chargpt({"sweep", "table", "nowhere"}), 66, {"nowhere", "no sweep.json"});
}

TEST_F(Sweep, AFailureIsNotedAndDoesNotStopTheOthers) {
  dir_.write("g.json", R"({"grid": {"optimizer.learning_rate": [1e30, 1e-3]}})");
  const ProgramResult result = sweep({"--out", "s", "--workers", "1"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.err.find("learning_rate=1e+30: failed with exit code 76 ("), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("1 of 2 runs finished, 1 failed"), std::string::npos) << result.err;
  const Json outcome = parse_json(read_file(dir_ / "s/outcomes/learning_rate=1e+30.json"), {"outcome"});
  EXPECT_EQ(outcome["exit_code"], 76);
  EXPECT_NE(outcome["lines"].dump().find("error: "), std::string::npos);
  const std::string before = log("s/learning_rate=1e+30");
  EXPECT_EQ(sweep({"--out", "s"}).code, 1);  // it diverges every time: that is its result
  EXPECT_EQ(log("s/learning_rate=1e+30"), before);
  const ProgramResult fast = sweep({"--out", "f", "--workers", "1", "--fail-fast"});
  EXPECT_EQ(fast.code, 1);
  EXPECT_NE(fast.err.find("0 of 2 runs finished, 1 failed, 1 stopped"), std::string::npos) << fast.err;
}

TEST_F(Sweep, OneRunOfAnArrayHasTrainsExitCode) {
  EXPECT_EQ(sweep({"--out", "s", "--index", "2"}).code, 0);
  EXPECT_TRUE(exists("s/width=16,seed=1/config.json"));
  EXPECT_FALSE(exists("s/width=8,seed=1"));
  expect_error(sweep({"--out", "s", "--index", "4"}), 2, {"--index", "0 to 3"});
  expect_error(sweep({"--out", "s", "--index", "-1"}), 2, {"--index", "0 to 3"});
  expect_error(sweep({"--out", "s", "--index", ""}), 2, {"--index"});  // of a job that is no array
  dir_.write("g.json", R"({"list": [{"optimizer.learning_rate": 1e30}]})");
  EXPECT_EQ(sweep({"--out", "d", "--index", "0"}).code, 76);
}

TEST_F(Sweep, AMistakeIsFoundBeforeAnythingIsWritten) {
  expect_error(sweep(), 2, {"--out"});
  expect_error(chargpt({"sweep", "--config", "t.json", "--out", "s"}), 2, {"--grid"});
  expect_error(sweep({"--out", "s", "--set", "model.width=8"}), 2, {"--set", "model.width", "g.json"});
  expect_error(sweep({"--out", "s", "--data", "missing.txt"}), 66, {"missing.txt"});
  expect_error(sweep({"--out", "d.txt"}), 73, {"d.txt is a file"});
  std::filesystem::create_directory(dir_ / "home");
  dir_.write("home/thesis.tex", "precious");
  expect_error(sweep({"--out", "home"}), 2, {"home is not empty"});
  expect_error(sweep({"--out", "s", "--workers", "0"}), 2, {"--workers"});
  expect_error(sweep({"--out", "s{model.width}"}), 2, {"--out has {model.width}, which g.json varies"});
  dir_.write("g.json", R"({"grid": {"model.width": [8, 9]}})");
  expect_error(sweep({"--out", "s"}), 2, {"g.json, point 2 (model.width=9)", "model.heads"});
  expect_error(chargpt({"sweep", "--grid", "missing.json", "--config", "t.json", "--out", "s"}), 66, {"missing.json"});
  EXPECT_FALSE(exists("s"));
}

TEST_F(Sweep, ASignalSavesAllRunsAndTheNextStartGoesOnWithThem) {
  dir_.write("g.json", R"({"grid": {"model.width": [8, 16]}})");
  const std::vector<std::string> words = {
      "sweep", "--config",           "t.json", "--grid", "g.json", "--out", "s", "--workers", "2",
      "--set", "train.steps=1000000"};
  for (const std::string beginning : {"starting ", "resuming "}) {
    const auto begun = [&](const std::string& run) {
      return exists("s/" + run + "/checkpoints/best") && log("s/" + run).find(beginning) != std::string::npos;
    };
    ProgramOptions options;
    options.on_stderr = [&, sent = false](pid_t pid, const std::string&) mutable {
      if (std::exchange(sent, true)) return;
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while ((!begun("width=8") || !begun("width=16")) && std::chrono::steady_clock::now() < until) usleep(1000);
      kill(pid, SIGINT);
    };
    const ProgramResult result = chargpt(words, options);
    EXPECT_EQ(result.code, 130) << result.err;
    EXPECT_NE(result.err.find("0 of 2 runs finished, 0 failed, 2 stopped"), std::string::npos) << result.err;
    for (const std::string run : {"s/width=8", "s/width=16"}) {
      EXPECT_NE(log(run).find(beginning), std::string::npos) << log(run);
      EXPECT_NE(log(run).find("stopped and saved at step"), std::string::npos) << log(run);
    }
  }
  EXPECT_EQ(table()[0]["state"], "unfinished");
}

TEST_F(Sweep, OneAtATimeInAFolder) {
  dir_.write("g.json", R"({"seeds": 1})");
  const std::vector<std::string> words = {"sweep", "--config",           "t.json", "--grid", "g.json", "--out", "s",
                                          "--set", "train.steps=1000000"};
  ProgramOptions options;
  options.on_stderr = [&, sent = false](pid_t pid, const std::string&) mutable {
    if (sent) return;
    sent = true;
    expect_error(chargpt(words), 75, {"s is in use: process " + std::to_string(pid)});
    kill(pid, SIGTERM);
  };
  EXPECT_EQ(chargpt(words, options).code, 143);
}

}  // namespace
}  // namespace chargpt
