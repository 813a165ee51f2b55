#include <atomic>
#include <thread>
#include <utility>

#include "reliability/support.hpp"

namespace chargpt {
namespace {

class RepeatedStop : public ReliabilityTest {};
class Stop : public ReliabilityTest {};

TEST_F(RepeatedStop, KillsAtAnyMomentAreNone) {
  const int kills = repetitions(20), steps = 12 * kills;
  ASSERT_EQ(chargpt(words("straight", steps)).code, 0);
  for (int i = 0; i < kills; ++i) {
    const std::ptrdiff_t line = 1 + static_cast<std::ptrdiff_t>(random_() % 24);
    SCOPED_TRACE("kill " + std::to_string(i) + " at line " + std::to_string(line));
    const ProgramResult result = chargpt(words("killed", steps), signal_at_line(SIGKILL, line));
    ASSERT_EQ(result.code, 128 + SIGKILL) << result.err;
    const std::int64_t newest = newest_checkpoint("killed");
    EXPECT_GE(newest, last_reported_save(result.err));
    if (newest >= 0) {
      EXPECT_NO_THROW(verify_checkpoint(RunPaths(dir_ / "killed").checkpoint(newest)));
    }
  }
  ASSERT_EQ(chargpt(words("killed", steps)).code, 0);
  expect_same_run("killed", "straight", steps);
}

TEST_F(RepeatedStop, KillsOfARunWithAnAverageOfItsWeightsAreNone) {
  const int kills = repetitions(10), steps = 12 * kills;
  const std::vector<std::string> more = {"--set", "train.ema=0.99",         "--set", "optimizer.name=sgd",
                                         "--set", "optimizer.momentum=0.9", "--set", "schedule.name=wsd"};
  ASSERT_EQ(chargpt(words("straight", steps, more)).code, 0);
  for (int i = 0; i < kills; ++i) {
    const std::ptrdiff_t line = 1 + static_cast<std::ptrdiff_t>(random_() % 24);
    SCOPED_TRACE("kill " + std::to_string(i) + " at line " + std::to_string(line));
    const ProgramResult result = chargpt(words("killed", steps, more), signal_at_line(SIGKILL, line));
    ASSERT_EQ(result.code, 128 + SIGKILL) << result.err;
  }
  ASSERT_EQ(chargpt(words("killed", steps, more)).code, 0);
  expect_same_run("killed", "straight", steps);
}

TEST_F(RepeatedStop, SignalsAtAnyMomentAreNone) {
  const int stops = repetitions(50), steps = 8 * stops;
  ASSERT_EQ(chargpt(words("straight", steps)).code, 0);
  const std::vector<int> signals = {SIGINT, SIGTERM, SIGHUP};
  for (int i = 0; i < stops; ++i) {
    const int signal = signals[random_() % signals.size()];
    const std::ptrdiff_t line = 1 + static_cast<std::ptrdiff_t>(random_() % 16);
    SCOPED_TRACE("signal " + std::to_string(signal) + " at line " + std::to_string(line));
    const ProgramResult result = chargpt(words("stopped", steps), signal_at_line(signal, line));
    ASSERT_EQ(result.code, 128 + signal) << result.err;
    EXPECT_NE(result.err.find("stopped and saved at step"), std::string::npos) << result.err;
    EXPECT_GE(newest_checkpoint("stopped"), 0);
  }
  ASSERT_EQ(chargpt(words("stopped", steps)).code, 0);
  expect_same_run("stopped", "straight", steps);
}

/// True when the process has no signal left to take.
bool took_signals(pid_t pid) {
  const std::string status = "/proc/" + std::to_string(pid) + "/status";
  std::ifstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    const bool pending = line.starts_with("ShdPnd:") || line.starts_with("SigPnd:");
    if (pending && line.find_first_not_of("0", 8) != std::string::npos) return false;
  }
  return true;
}

TEST_F(Stop, ASecondSignalThatIsSigintEndsAtOnce) {
  bool sent = false;
  ProgramOptions options;
  options.on_stderr = [&](pid_t pid, const std::string& err) {
    if (sent || err.find("parameters on") == std::string::npos) return;
    sent = true;
    kill(pid, SIGTERM);
    while (!took_signals(pid)) continue;
    kill(pid, SIGINT);
  };
  // A step of seconds, so that the program cannot have stopped by itself before the second signal.
  const ProgramResult result =
      chargpt({"train", "--config", "t.json", "--out", "r", "--set", "model.width=1024", "--set", "model.context=64",
               "--set", "train.batch=32", "--set", "train.steps=2"},
              options);
  EXPECT_EQ(result.code, 128 + SIGINT) << result.err;
  EXPECT_EQ(result.err.find("stopped and saved"), std::string::npos) << result.err;
  EXPECT_EQ(newest_checkpoint("r"), -1);
}

TEST_F(Stop, SighupIgnoredAtStartStaysIgnored) {
  ProgramOptions options = signal_at_line(SIGHUP, 20);
  options.folder = dir_.path();
  std::vector<std::string> command = {"/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", CHARGPT_PROGRAM};
  const auto more = words("r", 30);
  command.insert(command.end(), more.begin(), more.end());
  const ProgramResult result = run_program(command, options);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(newest_checkpoint("r"), 30);
}

TEST_F(Stop, ListedSignalsStopAndOthersDoNot) {
  const std::vector<std::string> list = {"--set", "run.stop_signals=TERM, USR1"};
  const ProgramResult listed = chargpt(words("r", 1000, list), signal_at_line(SIGUSR1, 20));
  EXPECT_EQ(listed.code, 128 + SIGUSR1) << listed.err;
  EXPECT_NE(listed.err.find("stopped and saved"), std::string::npos);
  const ProgramResult other = chargpt(words("r", 1000, list), signal_at_line(SIGUSR2, 20));
  EXPECT_EQ(other.code, 128 + SIGUSR2);
  EXPECT_EQ(other.err.find("stopped and saved"), std::string::npos);
  expect_error(chargpt(words("r", 1000, {"--set", "run.stop_signals=KILL"})), 2, {"run.stop_signals", "KILL"});
}

TEST_F(Stop, WhatHasNothingToSaveEndsAtOnce) {
  const std::string script =
      "\"$0\" doctor --numerics & pid=$!; until grep -q libtorch_cpu /proc/$pid/maps; do :; done; "
      "kill -TERM $pid; wait $pid";
  const ProgramResult result = run_program({"/bin/sh", "-c", script, CHARGPT_PROGRAM});
  EXPECT_EQ(result.code, 128 + SIGTERM);
  EXPECT_EQ(result.out, "");
}

/// How much is in the temporary file of chars.jsonl.
std::uintmax_t bytes_waiting(const std::string& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with(".tmp-chars.jsonl-")) return std::filesystem::file_size(folder + "/" + name, ignored);
  }
  return 0;
}

TEST_F(Stop, AFileOfCharactersIsWrittenAsAWholeOrNotAtAll) {
  ASSERT_EQ(chargpt(words("r", 3)).code, 0);
  std::string text = "\u00e9";  // what is not known is said before the scoring
  for (int i = 0; i < 20; ++i) text += plain_text();
  dir_.write("other.txt", text);
  dir_.write("chars.jsonl", "old");
  for (const int signal : {SIGINT, SIGTERM}) {
    bool written = false, sent = false;
    ProgramOptions options;
    options.on_stderr = [&](pid_t pid, const std::string&) {
      if (std::exchange(sent, true)) return;  // a second SIGINT would end it at once
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!written && std::chrono::steady_clock::now() < until) written = bytes_waiting(dir_.path()) > 0;
      kill(pid, signal);
    };
    // A pass for each of 400,000 characters: the program is not done before the signal.
    const ProgramResult result = chargpt({"eval", "--run", "r", "--data", "other.txt", "--mode", "sliding", "--stride",
                                          "1", "--set", "eval.batch=1", "--per-char", "chars.jsonl"},
                                         options);
    EXPECT_TRUE(written);
    EXPECT_EQ(result.code, 128 + signal) << result.err;
    EXPECT_NE(result.err.find("chars.jsonl is not written"), std::string::npos) << result.err;
    EXPECT_EQ(read_file(dir_ / "chars.jsonl"), "old");
    for (const std::string& name : names_in(dir_.path())) EXPECT_FALSE(name.starts_with(".tmp")) << name;
  }
}

TEST_F(Stop, APauseDoesNoHarm) {
  ASSERT_EQ(chargpt(words("straight", 30)).code, 0);
  ProgramOptions options;
  int pauses = 0;
  options.on_stderr = [&](pid_t pid, const std::string&) {
    if (++pauses > 10) return;
    kill(pid, SIGSTOP);
    kill(pid, SIGCONT);
  };
  ASSERT_EQ(chargpt(words("paused", 30), options).code, 0);
  expect_same_run("paused", "straight", 30);
}

TEST_F(Stop, AReaderThatLeavesDoesNoHarm) {
  ASSERT_EQ(chargpt(words("straight", 30)).code, 0);
  std::vector<std::string> command = {"/bin/sh", "-c", "{ \"$0\" \"$@\"; echo $? > code; } 2>&1 | head -n 1",
                                      CHARGPT_PROGRAM};
  const auto more = words("piped", 30, {"--json"});
  command.insert(command.end(), more.begin(), more.end());
  ProgramOptions options;
  options.folder = dir_.path();
  run_program(command, options);
  EXPECT_EQ(read_file(dir_ / "code"), "0\n");
  expect_same_run("piped", "straight", 30);
}

TEST_F(Stop, MaxSecondsStopsWithTheStateSaved) {
  const ProgramResult result = chargpt(words("r", 1'000'000, {"--max-seconds", "2", "--json"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const Json report = parse_json(result.out, {.source = "stdout"});
  EXPECT_EQ(report["stopped"], "max_seconds");
  EXPECT_EQ(report["finished"], false);
  EXPECT_EQ(newest_checkpoint("r"), report["step"].get<std::int64_t>());
  const int more = static_cast<int>(report["step"]) + 5;
  ASSERT_EQ(chargpt(words("r", more)).code, 0);
  ASSERT_EQ(chargpt(words("straight", more)).code, 0);
  expect_same_run("r", "straight", more);
  expect_error(chargpt(words("r", more, {"--max-seconds", "0"})), 2, {"--max-seconds"});
}

TEST_F(Stop, OfTwentyStartsOneWins) {
  constexpr int kStarts = 20;
  std::vector<ProgramResult> results(kStarts);
  std::atomic<int> ended{0};
  std::vector<std::thread> starts;
  for (ProgramResult& result : results) {
    starts.emplace_back([&] {
      result = chargpt({"train", "--config", "t.json", "--out", "r", "--set", "train.steps=100000000", "--quiet"});
      ++ended;
    });
  }
  while (ended < kStarts - 1) std::this_thread::yield();
  const auto winner = parse_json(read_file(dir_ / "r/lock"), {.source = "lock"})["pid"].get<pid_t>();
  kill(winner, SIGTERM);
  for (std::thread& start : starts) start.join();
  int stopped = 0;
  for (const ProgramResult& result : results) {
    if (result.code == 128 + SIGTERM) {
      ++stopped;
    } else {
      expect_error(result, 75, {"r is in use: process " + std::to_string(winner) + " on host ", " since 2"});
    }
  }
  EXPECT_EQ(stopped, 1);
}

}  // namespace
}  // namespace chargpt
