#include "chargpt/base/control_groups.hpp"

#include <gtest/gtest.h>

#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

using Paths = std::vector<std::filesystem::path>;

ControlGroups groups_of(const TempDir& dir, const std::string& controller, const std::string& membership) {
  std::filesystem::create_directories(dir / "proc/self");
  dir.write("proc/self/cgroup", membership);
  return control_groups(controller, dir.path());
}

TEST(ControlGroups, AreTheProcesssOwnAndAllAboveIt) {
  const TempDir dir;
  const std::string top = dir.path() + "/sys/fs/cgroup";
  EXPECT_EQ(groups_of(dir, "cpu", "0::/a/b\n").version_2, (Paths{top + "/a/b", top + "/a", top}));
  EXPECT_EQ(groups_of(dir, "cpu", "0::/\n").version_2, (Paths{top}));
}

TEST(ControlGroups, OfVersion1AreThoseOfTheController) {
  const TempDir dir;
  const std::string top = dir.path() + "/sys/fs/cgroup";
  const std::string membership = "5:memory:/x\n4:cpu,cpuacct:/y\n3:cpuset:/z\nno colons\n";
  EXPECT_EQ(groups_of(dir, "memory", membership).version_1, (Paths{top + "/memory/x", top + "/memory"}));
  EXPECT_EQ(groups_of(dir, "cpu", membership).version_1, (Paths{top + "/cpu/y", top + "/cpu"}));
  EXPECT_TRUE(groups_of(dir, "cpu", membership).version_2.empty());
}

TEST(ControlGroups, AreNoneWhereTheSystemTellsNone) {
  const TempDir dir;
  EXPECT_TRUE(control_groups("cpu", dir.path()).version_2.empty());
}

}  // namespace
}  // namespace chargpt
