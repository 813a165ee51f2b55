#include "chargpt/base/visible_gpus.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

using Names = std::vector<std::string>;

TEST(VisibleGpus, AreThoseOfTheDriverOrOfTheVariable) {
  const TempDir dir;
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(visible_gpus(dir.path()), Names{});
  for (const std::string bus : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"}) {
    std::filesystem::create_directories(dir / ("proc/driver/nvidia/gpus/" + bus));
  }
  EXPECT_EQ(visible_gpus(dir.path()), (Names{"0", "1", "2"}));
  setenv("CUDA_VISIBLE_DEVICES", "2,GPU-8932f937", 1);
  EXPECT_EQ(visible_gpus(dir.path()), (Names{"2", "GPU-8932f937"}));
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(visible_gpus(dir.path()), Names{});
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace chargpt
