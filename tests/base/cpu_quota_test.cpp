#include "chargpt/base/cpu_quota.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

class CpuQuota : public testing::Test {
 protected:
  void put(const std::string& folder, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(dir_ / folder);
    dir_.write(folder + "/" + file, text);
  }
  int quota(const std::string& membership) {
    put("proc/self", "cgroup", membership);
    return cpu_quota(dir_.path());
  }
  TempDir dir_;
};

TEST_F(CpuQuota, OfVersion2IsTheLeastOfTheGroupAndThoseAbove) {
  put("sys/fs/cgroup", "cpu.max", "max 100000\n");
  put("sys/fs/cgroup/jobs", "cpu.max", "250000 100000\n");
  put("sys/fs/cgroup/jobs/one", "cpu.max", "max 100000\n");
  put("sys/fs/cgroup/jobs/two", "cpu.max", "50000 100000\n");
  put("sys/fs/cgroup/free", "cpu.max", "max 100000\n");
  EXPECT_EQ(quota("0::/jobs/one\n"), 3);
  EXPECT_EQ(quota("0::/jobs/two\n"), 1);
  EXPECT_EQ(quota("0::/free\n"), 0);
  EXPECT_EQ(quota("0::/\n"), 0);
}

TEST_F(CpuQuota, OfVersion1IsReadFromTheCpuController) {
  put("sys/fs/cgroup/cpu/jobs", "cpu.cfs_quota_us", "400000\n");
  put("sys/fs/cgroup/cpu/jobs", "cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu/free", "cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/free", "cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("5:memory:/other\n4:cpu,cpuacct:/jobs\n0::/\n"), 4);
  EXPECT_EQ(quota("4:cpu,cpuacct:/free\n"), 0);
  EXPECT_EQ(quota("4:cpuacct:/jobs\n3:cpuset:/jobs\n"), 0);
}

TEST_F(CpuQuota, OfAContainerThatSeesTheHostsPathIsThatOfTheRoot) {
  put("sys/fs/cgroup", "cpu.max", "150000 100000\n");
  EXPECT_EQ(quota("0::/host/path\n"), 2);
}

TEST_F(CpuQuota, IsNoneWhereThereIsNothingToRead) {
  EXPECT_EQ(quota(""), 0);
  EXPECT_EQ(quota("no colons\n"), 0);
  EXPECT_EQ(cpu_quota(dir_ / "absent"), 0);
}

}  // namespace
}  // namespace chargpt
