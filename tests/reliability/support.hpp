#pragma once

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "app/support.hpp"
#include "chargpt/base/run_folder.hpp"

namespace chargpt {

/// How often a test repeats what it does: `count` times, or more where SOAK_FACTOR says how many times more (a name
/// that the program does not take for one of its own settings).
inline int repetitions(int count) {
  const char* factor = std::getenv("SOAK_FACTOR");
  return count * (factor == nullptr ? 1 : std::max(1, std::atoi(factor)));
}

/// Trains small models, in folders named by the test, and disturbs that.
class ReliabilityTest : public ProgramTest {
 protected:
  /// A run that says every step and every save, begun or continued.
  std::vector<std::string> words(const std::string& run, int steps, std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"train", "--config", "t.json", "--out", run, "--resume", "auto", "--verbose"};
    for (const std::string& key :
         {"train.steps=" + std::to_string(steps), std::string("train.log_every=1"), std::string("train.save_every=1"),
          std::string("train.eval_every=7"), std::string("model.dropout=0.2"), std::string("train.micro_batch=2")}) {
      all.insert(all.end(), {"--set", key});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// Runs `script` with the program as $0 and its arguments as "$@".
  ProgramResult shell(const std::string& script, const std::vector<std::string>& words) const {
    std::vector<std::string> command = {"/bin/sh", "-c", script, CHARGPT_PROGRAM};
    command.insert(command.end(), words.begin(), words.end());
    ProgramOptions options;
    options.folder = dir_.path();
    return run_program(command, options);
  }

  /// Sends the signal when there are so many lines on stderr, after a moment of up to three milliseconds.
  ProgramOptions signal_at_line(int signal, std::ptrdiff_t line) {
    ProgramOptions options;
    const auto moment = std::chrono::microseconds(random_() % 3000);
    options.on_stderr = [signal, line, moment, sent = false](pid_t pid, const std::string& err) mutable {
      if (sent || std::count(err.begin(), err.end(), '\n') < line) return;
      const auto until = std::chrono::steady_clock::now() + moment;
      while (std::chrono::steady_clock::now() < until) continue;
      sent = kill(pid, signal) == 0;
    };
    return options;
  }

  std::int64_t newest_checkpoint(const std::string& run) const {
    const auto steps = list_checkpoints(RunPaths(dir_ / run).checkpoints());
    return steps.empty() ? -1 : steps.back();
  }

  /// The step of the last save that stderr tells of; -1 without one.
  static std::int64_t last_reported_save(const std::string& err) {
    const std::string mark = ": saved ";
    const auto at = err.rfind(mark);
    if (at == std::string::npos) return -1;
    return std::atoll(err.c_str() + err.rfind("step ", at) + 5);
  }

  std::string file(const std::string& run, std::int64_t step, const std::string& name) const {
    return read_file(RunPaths(dir_ / run).checkpoint(step) + "/" + name);
  }

  /// The records of metrics.jsonl without the times.
  std::vector<Json> metrics(const std::string& run) const {
    std::vector<Json> records;
    const std::string text = read_file(RunPaths(dir_ / run).metrics());
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      records.push_back(parse_json(text.substr(begin, text.find('\n', begin) - begin), {.source = "metrics"}));
      records.back().erase("seconds");
    }
    return records;
  }

  /// Bit for bit: weights, moments and metrics.
  void expect_same_run(const std::string& run, const std::string& other, std::int64_t step) const {
    const auto files = verify_checkpoint(RunPaths(dir_ / other).checkpoint(step)).files;
    for (const auto& [name, written] : files) {
      EXPECT_TRUE(file(run, step, name) == file(other, step, name)) << name;
    }
    EXPECT_EQ(metrics(run), metrics(other));
  }

  std::mt19937 random_{20};
};

}  // namespace chargpt
