#include <fstream>
#include <map>

#include "reliability/support.hpp"

namespace chargpt {
namespace {

class RepeatedSweep : public ReliabilityTest {
 protected:
  RepeatedSweep() {
    dir_.write("g.json", R"({"grid": {"model.width": [8, 16], "optimizer.learning_rate": [1e-3, 3e-3]}, "seeds": 3})");
  }

  std::vector<std::string> sweep(const std::string& out, int steps) const {
    return {"sweep",  "--config",
            "t.json", "--grid",
            "g.json", "--out",
            out,      "--workers",
            "2",      "--verbose",
            "--set",  "train.steps=" + std::to_string(steps),
            "--set",  "train.save_every=2",
            "--set",  "train.eval_every=7",
            "--set",  "model.dropout=0.2"};
  }

  std::vector<std::string> run_names(const std::string& out) const {
    std::vector<std::string> names;
    const Json plan = parse_json(read_file(dir_ / (out + "/sweep.json")), {"plan"});
    for (const Json& run : plan["runs"]) names.push_back(run["name"]);
    return names;
  }

  /// All metrics records and weights of all runs are those of the sweep that nothing disturbed.
  void expect_same_sweep(const std::string& out, const std::string& other, int steps) const {
    ASSERT_EQ(run_names(out), run_names(other));
    ASSERT_EQ(run_names(out).size(), 12U);
    for (const std::string& name : run_names(out)) {
      SCOPED_TRACE(name);
      expect_same_run(out + "/" + name, other + "/" + name, steps);
    }
  }

  /// Steps of all runs' newest checkpoints together.
  std::int64_t progress(const std::string& out) const {
    std::int64_t steps = 0;
    if (!exists(out + "/sweep.json")) return steps;
    for (const std::string& name : run_names(out)) {
      steps += std::max<std::int64_t>(0, newest_checkpoint(out + "/" + name));
    }
    return steps;
  }

  /// Kills the worker of a run that has a new checkpoint since its worker was killed last. False without one.
  bool kill_a_worker(pid_t sweep, int steps, std::map<std::string, std::int64_t>& killed_at) const {
    const std::vector<pid_t> workers = children(sweep);
    for (const std::string& name : run_names("killed")) {
      const std::int64_t newest = newest_checkpoint("killed/" + name);
      const auto before = killed_at.try_emplace(name, -1).first;
      if (newest <= before->second || newest >= steps) continue;
      const Json holder = Json::parse(read_file(dir_ / ("killed/" + name + "/lock")), nullptr, false);
      const pid_t worker = holder.is_object() ? holder.value("pid", 0) : 0;
      if (std::find(workers.begin(), workers.end(), worker) == workers.end()) continue;
      before->second = newest;
      return kill(worker, SIGKILL) == 0;
    }
    return false;
  }

  static std::vector<pid_t> children(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
    std::vector<pid_t> pids;
    for (pid_t child = 0; file >> child;) pids.push_back(child);
    return pids;
  }
};

TEST_F(RepeatedSweep, KillsOfTheSweepAreNone) {
  const int kills = repetitions(20), steps = 40 * repetitions(1);
  ASSERT_EQ(chargpt(sweep("straight", steps)).code, 0);
  const std::int64_t all = 12 * steps;
  for (int i = 0; i < kills; ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    // When so many steps of all are saved, and a moment later, so that kills fall into starts, steps and ends of runs.
    const std::int64_t wanted = all * i / kills / 2;
    const unsigned moment = random_() % 20000;
    ProgramOptions options;
    options.on_stderr = [&, sent = false](pid_t pid, const std::string&) mutable {
      if (sent) return;
      sent = true;
      while (progress("killed") < wanted) usleep(500);
      usleep(moment);
      kill(pid, SIGKILL);
    };
    const ProgramResult result = chargpt(sweep("killed", steps), options);
    ASSERT_EQ(result.code, 128 + SIGKILL) << result.err;
  }
  const ProgramResult last = chargpt(sweep("killed", steps));
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_NE(last.err.find("12 of 12 runs finished"), std::string::npos) << last.err;
  expect_same_sweep("killed", "straight", steps);
}

TEST_F(RepeatedSweep, KillsOfWorkersAreNone) {
  const int kills = repetitions(20), steps = 40 * repetitions(1);
  ASSERT_EQ(chargpt(sweep("straight", steps)).code, 0);
  const std::int64_t all = 12 * steps;
  int sent = 0;
  std::map<std::string, std::int64_t> killed_at;
  ProgramOptions options;
  options.on_stderr = [&](pid_t pid, const std::string&) {  // each death is a message, so that this is called again
    if (sent == kills) return;
    while (progress("killed") < all && !kill_a_worker(pid, steps, killed_at)) usleep(500);
    if (progress("killed") < all) ++sent;
  };
  const ProgramResult result = chargpt(sweep("killed", steps), options);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(sent, kills);
  EXPECT_NE(result.err.find("its process ended with 137; it goes on in another"), std::string::npos) << result.err;
  expect_same_sweep("killed", "straight", steps);
}

TEST_F(RepeatedSweep, SignalsToTheSweepAreNone) {
  const int stops = repetitions(10), steps = 40 * repetitions(1);
  ASSERT_EQ(chargpt(sweep("straight", steps)).code, 0);
  const std::vector<int> signals = {SIGINT, SIGTERM, SIGHUP};
  for (int i = 0; i < stops; ++i) {
    const int signal = signals[random_() % signals.size()];
    const std::int64_t wanted = 12 * steps * i / stops / 2;
    ProgramOptions options;
    options.on_stderr = [&, sent = false](pid_t pid, const std::string&) mutable {
      if (sent) return;
      sent = true;
      while (progress("stopped") < wanted) usleep(500);
      kill(pid, signal);
    };
    const ProgramResult result = chargpt(sweep("stopped", steps), options);
    ASSERT_EQ(result.code, 128 + signal) << result.err;
  }
  ASSERT_EQ(chargpt(sweep("stopped", steps)).code, 0);
  expect_same_sweep("stopped", "straight", steps);
}

TEST_F(RepeatedSweep, ARunThatEndsItsWorkerAgainAndAgainIsGivenUp) {
  dir_.write("g.json", R"({"seeds": 2})");
  ProgramOptions options;
  options.on_stderr = [](pid_t pid, const std::string& err) {
    if (err.find("[2/2]") != std::string::npos) return;
    while (children(pid).empty()) usleep(500);
    for (const pid_t worker : children(pid)) kill(worker, SIGKILL);  // long before it can have saved anything
  };
  std::vector<std::string> words = sweep("s", 1'000'000);
  words[8] = "1";
  words.insert(words.end(), {"--set", "train.save_every=0", "--set", "train.eval_every=0"});
  const ProgramResult result = chargpt(words, options);
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.err.find("seed=1: failed with exit code 137"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("0 of 2 runs finished, 2 failed"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace chargpt
