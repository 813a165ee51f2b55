#include <unistd.h>

#include <fstream>

#include "chargpt/base/model_file.hpp"
#include "reliability/support.hpp"

namespace chargpt {
namespace {

/// Resident memory of a process in pages.
/// Counted page by page: what statm says is late by some pages a processor.
double resident_kib(const std::string& pid) {
  std::ifstream rollup("/proc/" + pid + "/smaps_rollup");
  std::string word;
  while (rollup >> word && word != "Rss:") continue;
  double resident = 0;
  rollup >> resident;
  return resident;
}

class Memory : public ReliabilityTest {};

TEST_F(Memory, IsFlatOverTwoThousandSteps) {
  double early = 0, late = 0;
  ProgramOptions options;
  options.on_stderr = [&](pid_t pid, const std::string& err) {
    const double now = resident_kib(std::to_string(pid));
    if (early == 0 && err.find("step 200/") != std::string::npos) early = now;
    if (late == 0 && err.find("step 2000/") != std::string::npos) late = now;
  };
  const ProgramResult result =
      chargpt({"train", "--config", "t.json", "--out", "r", "--set", "train.steps=2100"}, options);
  ASSERT_EQ(result.code, 0) << result.err;
  ASSERT_GT(early, 0);
  EXPECT_LT(late, 1.02 * early);
}

/// The most address space that a process has had so far, in kilobytes.
std::int64_t peak_address_space(pid_t pid) {
  std::ifstream lines("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; lines >> word;) {
    std::int64_t size = 0;
    if (word == "VmPeak:" && lines >> size) return size;
  }
  return 0;
}

/// The number behind a word of a message.
std::int64_t number_behind(const std::string& message, const std::string& word) {
  const auto at = message.find(word);
  EXPECT_NE(at, std::string::npos) << message << "lacks: " << word;
  return at == std::string::npos ? 0 : std::atoll(message.c_str() + at + word.size());
}

// In small passes the run fits; the whole batch in one pass does not fit into the address space that these took, nor
// does an evaluation of as many windows, whose memory nobody estimates.
TEST_F(Memory, ThatRunsOutIsReportedWithAdviceAndTheLastCheckpointGoesOn) {
  std::int64_t kilobytes = 0;
  ProgramOptions options;
  options.on_stderr = [&](pid_t pid, const std::string&) { kilobytes = std::max(kilobytes, peak_address_space(pid)); };
  std::vector<std::string> run = {"train",
                                  "--config",
                                  "t.json",
                                  "--out",
                                  "r",
                                  "--set",
                                  "train.batch=16384",
                                  "--set",
                                  "train.micro_batch=64",
                                  "--set",
                                  "model.attention=heads",
                                  "--set",
                                  "train.log_every=1"};
  std::vector<std::string> first = run;
  first.insert(first.end(), {"--set", "train.steps=2"});
  ASSERT_EQ(chargpt(first, options).code, 0);
  ASSERT_GT(kilobytes, 0);

  std::vector<std::string> limited = {
      "/bin/sh", "-c", "ulimit -v " + std::to_string(kilobytes + (64 << 10)) + "; exec \"$0\" \"$@\"", CHARGPT_PROGRAM};
  limited.insert(limited.end(), {"train", "--resume", "r", "--quiet"});
  const auto resume = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> command = limited;
    for (const std::string& setting : settings) command.insert(command.end(), {"--set", setting});
    return run_program(command, {.folder = dir_.path()});
  };
  const std::string config = read_file(dir_ / "r/config.json");
  const ProgramResult refused = resume({"train.steps=3", "train.micro_batch=0"});
  expect_error(refused, 77, {"error: out of memory: training takes about", "train.micro_batch=auto"});
  EXPECT_EQ(read_file(dir_ / "r/config.json"), config);

  const ProgramResult ran_out =
      resume({"train.steps=3", "eval.mode=random", "eval.windows=100000", "eval.batch=100000"});
  expect_error(ran_out, 77, {"error: out of memory: lower train.micro_batch"});
  EXPECT_EQ(newest_checkpoint("r"), 2);
  EXPECT_NO_THROW(verify_checkpoint(RunPaths(dir_ / "r").checkpoint(2)));

  const ProgramResult resumed = resume({"train.steps=3", "eval.mode=windows", "eval.batch=64"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(newest_checkpoint("r"), 3);

  // An estimate of up to twice of what is free is tried, with a warning.
  const std::int64_t needed = number_behind(refused.err, "takes about "), left = number_behind(refused.err, "but ");
  const std::int64_t windows = 16384 * 3 * left / (2 * std::max<std::int64_t>(needed, 1));
  const ProgramResult tried = resume({"train.steps=4", "train.micro_batch=" + std::to_string(windows)});
  EXPECT_NE(tried.err.find("warning: training will take about"), std::string::npos) << tried.err;
  EXPECT_EQ(tried.err.find("error: out of memory: training takes about"), std::string::npos) << tried.err;
  EXPECT_TRUE(tried.code == 0 || tried.code == 77) << tried.code << " " << tried.err;
}

TEST_F(Memory, DoesNotGrowWithLoads) {
  ASSERT_EQ(chargpt(words("r", 2)).code, 0);
  const std::string path = RunPaths(dir_ / "r").checkpoint(2) + "/model.safetensors";
  const auto after_fifty_loads = [&] {
    for (int i = 0; i < 50; ++i) {
      const ModelFile file(path);
      std::vector<float> values(static_cast<std::size_t>(file.layout().size()));
      file.copy_values(values);
    }
    return resident_kib("self");
  };
  after_fifty_loads();  // the allocator reaches its size, and all code is in memory
  const double before = after_fifty_loads();
  EXPECT_LE(after_fifty_loads(), before + 64);
}

}  // namespace
}  // namespace chargpt
