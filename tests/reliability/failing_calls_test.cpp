// What the program promises of its saves, held against every system call that a save makes: each fails once, and at
// each the process is killed once. The calls are found by tracing, not listed here.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "chargpt/base/file.hpp"
#include "chargpt/base/run_folder.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

struct Call {
  std::string name, path;
};

/// A run with sound checkpoints 1, 4 and 5, of which 1 is the best; the saves of steps 6 and 7 are tried.
class FailingCalls : public testing::Test {
 protected:
  FailingCalls() {
    fs::create_directory(dir_ / "sound");
    save("sound", 1, 5, {});
  }

  ProgramResult save(const std::string& run, int first, int last, std::vector<std::string> environment) const {
    ProgramOptions options;
    options.environment = std::move(environment);
    return run_program({CHARGPT_SAVE_CHECKPOINTS, dir_ / run, std::to_string(first), std::to_string(last)}, options);
  }

  ProgramResult save_with_fault(const std::string& run, std::size_t at, const std::string& kind) const {
    fs::remove_all(dir_ / run);
    fs::copy(dir_ / "sound", dir_ / run, fs::copy_options::recursive);
    return save(run, 6, 7,
                {"LD_PRELOAD=" CHARGPT_FAILING_CALLS, "FAULT_FOLDER=" + dir_ / run, "FAULT_AT=" + std::to_string(at),
                 "FAULT_KIND=" + kind, "FAULT_TRACE=" + dir_ / "trace"});
  }

  std::vector<Call> trace() const {
    std::vector<Call> calls;
    std::ifstream file(dir_ / "trace");
    for (Call call; file >> call.name >> call.path;) calls.push_back(call);
    return calls;
  }

  /// The calls of the saves of steps 6 and 7 where all goes well.
  std::vector<Call> all_calls() const {
    fs::remove(dir_ / "trace");
    EXPECT_EQ(save_with_fault("traced", 0, "").code, 0);
    return trace();
  }

  /// Whatever happened: the best and the last checkpoint that was reported (or a newer one) are there and sound.
  void expect_nothing_lost(const std::string& run, const ProgramResult& result) const {
    const RunPaths paths(dir_ / run);
    std::int64_t reported = 5;
    for (const std::int64_t step : {6, 7}) {
      if (result.out.find("saved " + std::to_string(step)) != std::string::npos) reported = step;
    }
    const auto steps = list_checkpoints(paths.checkpoints());
    ASSERT_FALSE(steps.empty());
    EXPECT_GE(steps.back(), reported);
    EXPECT_EQ(read_best(paths.checkpoints()), 1);
    for (const std::int64_t step : steps) EXPECT_NO_THROW(verify_checkpoint(paths.checkpoint(step))) << step;
    EXPECT_TRUE(std::find(steps.begin(), steps.end(), 1) != steps.end()) << "the best is gone";
  }

  /// After the trouble is over the same saves work, and nothing of it is left.
  void expect_recovery(const std::string& run) const {
    const ProgramResult result = save(run, 6, 7, {});
    EXPECT_EQ(result.code, 0) << result.err;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_ / run + "/checkpoints"))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"best", "step-00000001", "step-00000006", "step-00000007"}));
    EXPECT_EQ(read_file(dir_ / run + "/metrics.jsonl"), read_file(dir_ / "traced/metrics.jsonl"));
  }

  TempDir dir_;
};

TEST_F(FailingCalls, EachOnceLeavesTheOldCheckpointAndIsReported) {
  const auto calls = all_calls();
  ASSERT_GT(calls.size(), 60U);
  for (std::size_t at = 1; at <= calls.size(); ++at) {
    const Call& call = calls[at - 1];
    SCOPED_TRACE(call.name + " " + call.path);
    const ProgramResult result = save_with_fault("faulty", at, std::to_string(EIO));
    // What only reads (a folder to sync is opened so, a checkpoint is verified before another is removed) may fail
    // without harm; what writes may not.
    const bool harmless = call.name == "close" || call.name == "open";
    EXPECT_TRUE(result.code == 74 || (harmless && result.code == 0)) << result.code << " " << result.err;
    if (result.code != 0) {
      EXPECT_EQ(result.err.rfind("error: ", 0), 0U) << result.err;
    }
    expect_nothing_lost("faulty", result);
    expect_recovery("faulty");
  }
}

TEST_F(FailingCalls, AFullDiskIsOneToo) {
  const auto calls = all_calls();
  for (std::size_t at = 1; at <= calls.size(); ++at) {
    if (calls[at - 1].name != "write" && calls[at - 1].name != "create" && calls[at - 1].name != "mkdir") continue;
    SCOPED_TRACE(calls[at - 1].name + " " + calls[at - 1].path);
    const ProgramResult result = save_with_fault("faulty", at, std::to_string(ENOSPC));
    EXPECT_EQ(result.code, 74) << result.err;
    EXPECT_NE(result.err.find("No space left"), std::string::npos) << result.err;
    expect_nothing_lost("faulty", result);
  }
}

TEST_F(FailingCalls, AKillAtEachLosesNothingThatWasReported) {
  const auto calls = all_calls();
  for (std::size_t at = 1; at <= calls.size(); ++at) {
    SCOPED_TRACE(calls[at - 1].name + " " + calls[at - 1].path);
    const ProgramResult result = save_with_fault("killed", at, "kill");
    EXPECT_EQ(result.code, 128 + SIGKILL);
    expect_nothing_lost("killed", result);
    expect_recovery("killed");
  }
}

TEST_F(FailingCalls, AnInterruptedOneIsRepeated) {
  const auto calls = all_calls();
  for (std::size_t at = 1; at <= calls.size(); ++at) {
    const std::string& name = calls[at - 1].name;
    if (name != "write" && name != "fsync" && name != "close") continue;
    const ProgramResult result = save_with_fault("interrupted", at, std::to_string(EINTR));
    EXPECT_EQ(result.code, 0) << name << " " << calls[at - 1].path << " " << result.err;
    expect_nothing_lost("interrupted", result);
  }
}

TEST_F(FailingCalls, AFileWrittenByteByByteIsTheSame) {
  all_calls();
  ASSERT_EQ(save_with_fault("short", 1, "short").code, 0);
  for (const std::string name : {"metrics.jsonl", "checkpoints/step-00000007/model.safetensors",
                                 "checkpoints/step-00000007/manifest.json", "checkpoints/best"}) {
    EXPECT_EQ(read_file(dir_ / ("short/" + name)), read_file(dir_ / ("traced/" + name))) << name;
  }
}

/// write < fsync of the files and of the folder < rename < fsync of the parent < unlink of old ones.
TEST_F(FailingCalls, HaveTheOrderThatASystemCrashAllows) {
  const auto calls = all_calls();
  const std::string checkpoints = dir_ / "traced/checkpoints", target = checkpoints + "/step-00000006";
  const auto commit = std::find_if(calls.begin(), calls.end(),
                                   [&](const Call& call) { return call.name == "rename" && call.path == target; });
  ASSERT_NE(commit, calls.end());
  std::map<std::string, std::string> last;  // the last call on each file before the commit, its close apart
  for (auto call = calls.begin(); call != commit; ++call) {
    if (call->name != "close" && call->name != "open") last[call->path] = call->name;
    EXPECT_FALSE(call->name == "unlink" && call->path.find(".tmp-") == std::string::npos) << call->path;
  }
  int files = 0;
  for (const auto& [path, call] : last) {
    if (path.find("/.tmp-step-00000006") == std::string::npos) continue;
    EXPECT_EQ(call, "fsync") << path;
    ++files;
  }
  EXPECT_EQ(files, 4) << "model, optimizer, manifest and the folder";
  const auto parent = std::find_if(commit, calls.end(),
                                   [&](const Call& call) { return call.name == "fsync" && call.path == checkpoints; });
  const auto removal = std::find_if(commit, calls.end(), [](const Call& call) { return call.name == "unlink"; });
  ASSERT_NE(parent, calls.end());
  ASSERT_NE(removal, calls.end()) << "the save of step 6 removes step 4";
  EXPECT_LT(parent - calls.begin(), removal - calls.begin());
}

}  // namespace
}  // namespace chargpt
