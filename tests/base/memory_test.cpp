#include "chargpt/base/memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// A system of one gigabyte available, whose process is in the group /a/b.
class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory() {
    put("proc/meminfo", "MemTotal: 4194304 kB\nMemAvailable: 1048576 kB\nBuffers: 5 kB\n");
    put("proc/self/cgroup", "0::/a/b\n");
  }
  void put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    dir_.write(name, text);
  }
  void put_group(const std::string& group, const std::string& limit, std::int64_t used_mib) {
    put("sys/fs/cgroup" + group + "/memory.max", limit + "\n");
    put("sys/fs/cgroup" + group + "/memory.current", std::to_string(used_mib * kMiB) + "\n");
  }
  std::int64_t mib() const { return available_memory(dir_.path()) / kMiB; }

  TempDir dir_;
};

TEST(RequireMemory, SaysHowMuchIsMissingAndWhatToDo) {
  require_memory(3 * kMiB, 3 * kMiB, "the ids", "");
  expect_error(ExitCode::out_of_memory, {"the ids of d take 3 MiB", "2 MiB are free", "give less"},
               [] { require_memory(3 * kMiB, 3 * kMiB - 1, "the ids of d", "give less"); });
  expect_error(ExitCode::out_of_memory, {"take 4 MiB, but 3 MiB are free"},
               [] { require_memory(3 * kMiB + 1, 3 * kMiB, "the ids of d", "give less"); });
}

TEST_F(AvailableMemory, IsTheSystemsWhereNoGroupIsLimited) {
  EXPECT_EQ(mib(), 1024);
  put_group("/a/b", "max", 5000);
  EXPECT_EQ(mib(), 1024);
}

TEST_F(AvailableMemory, IsWhatTheGroupOrOneAboveItLeaves) {
  put_group("/a/b", std::to_string(900 * kMiB), 400);
  EXPECT_EQ(mib(), 500);
  put_group("/a", std::to_string(700 * kMiB), 450);
  EXPECT_EQ(mib(), 250);
  put_group("", std::to_string(600 * kMiB), 599);
  EXPECT_EQ(mib(), 1);
  put_group("", std::to_string(600 * kMiB), 601);
  EXPECT_EQ(mib(), 0);
}

TEST_F(AvailableMemory, CountsFilesThatTheKernelCanForgetAsFree) {
  put_group("/a/b", std::to_string(900 * kMiB), 800);
  put("sys/fs/cgroup/a/b/memory.stat", "anon 1\ninactive_file " + std::to_string(300 * kMiB) + "\nactive_file 2\n");
  EXPECT_EQ(mib(), 400);
}

TEST_F(AvailableMemory, KnowsGroupsOfVersionOne) {
  put("proc/self/cgroup", "5:memory:/x\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(300 * kMiB));
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(100 * kMiB));
  EXPECT_EQ(mib(), 200);
}

TEST(AvailableMemoryHere, IsSomeMemory) {
  EXPECT_GT(available_memory(), kMiB);
  EXPECT_LT(available_memory(), std::int64_t{1} << 50);
}

TEST(LastLevelCache, IsTheThirdLevelOrElseTheSecond) {
  const TempDir dir;
  EXPECT_EQ(last_level_cache(dir.path()), 0);
  const std::string caches = dir.path() + "/sys/devices/system/cpu/cpu0/cache/index";
  const auto put = [&](int index, const std::string& size) {
    std::filesystem::create_directories(caches + std::to_string(index));
    std::ofstream(caches + std::to_string(index) + "/size") << size;
  };
  put(0, "32K\n");
  put(2, "512K\n");
  EXPECT_EQ(last_level_cache(dir.path()), 512 << 10);
  put(3, "32768K\n");
  EXPECT_EQ(last_level_cache(dir.path()), 32 << 20);
}

TEST(PeakResidentMemory, IsWhatWasTouchedAtOnce) {
  const std::int64_t before = peak_resident_memory();
  const std::vector<char> block(static_cast<std::size_t>(before) + (64 << 20), 1);
  EXPECT_GE(peak_resident_memory(), static_cast<std::int64_t>(block.size()));
}

}  // namespace
}  // namespace chargpt
