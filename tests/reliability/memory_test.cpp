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
