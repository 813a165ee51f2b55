#include <unistd.h>

#include <fstream>

#include "chargpt/base/model_file.hpp"
#include "reliability/support.hpp"

namespace chargpt {
namespace {

/// Resident memory of a process in pages.
double resident_pages(const std::string& pid) {
  double total = 0, resident = 0;
  std::ifstream("/proc/" + pid + "/statm") >> total >> resident;
  return resident;
}

class Memory : public ReliabilityTest {};

TEST_F(Memory, IsFlatOverTwoThousandSteps) {
  double early = 0, late = 0;
  ProgramOptions options;
  options.on_stderr = [&](pid_t pid, const std::string& err) {
    const double now = resident_pages(std::to_string(pid));
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

// In small passes the run fits; the whole batch in one pass does not fit into the address space that these took.
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
  const std::vector<std::string> resume = {"train", "--resume", "r", "--set", "train.steps=3", "--quiet"};
  limited.insert(limited.end(), resume.begin(), resume.end());
  limited.insert(limited.end(), {"--set", "train.micro_batch=0"});
  options = {};
  options.folder = dir_.path();
  const ProgramResult refused = run_program(limited, options);
  EXPECT_EQ(refused.code, 77) << refused.err;
  for (const char* said : {"warning: training will take about", "\nerror: out of memory: lower train.micro_batch"}) {
    EXPECT_NE(refused.err.find(said), std::string::npos) << refused.err;
  }
  EXPECT_EQ(newest_checkpoint("r"), 2);
  EXPECT_NO_THROW(verify_checkpoint(RunPaths(dir_ / "r").checkpoint(2)));

  limited.insert(limited.end(), {"--set", "train.micro_batch=64"});
  const ProgramResult resumed = run_program(limited, options);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(newest_checkpoint("r"), 3);
}

TEST_F(Memory, DoesNotGrowWithLoads) {
  ASSERT_EQ(chargpt(words("r", 2)).code, 0);
  const std::string path = RunPaths(dir_ / "r").checkpoint(2) + "/model.safetensors";
  const auto load = [&] {
    const ModelFile file(path);
    std::vector<float> values(static_cast<std::size_t>(file.layout().size()));
    file.copy_values(values);
  };
  for (int i = 0; i < 50; ++i) load();  // the allocator reaches its size
  const double before = resident_pages("self");
  for (int i = 0; i < 50; ++i) load();
  EXPECT_LE(resident_pages("self"), before + 16);
}

}  // namespace
}  // namespace chargpt
