// Disks that are full or refuse, and streams that nobody reads.

#include <sys/mount.h>

#include "reliability/support.hpp"

namespace chargpt {
namespace {

class Disk : public ReliabilityTest {
 protected:
  static void expect_reported(const ProgramResult& result) {
    EXPECT_EQ(result.code, 74) << result.err;
    EXPECT_NE(result.err.find("error: "), std::string::npos) << result.err;
  }
};

TEST_F(Disk, AFileSizeLimitIsReportedAndNothingIsLost) {
  for (const std::string run : {"straight", "r"}) ASSERT_EQ(chargpt(words(run, 10)).code, 0);
  ASSERT_EQ(chargpt(words("straight", 20)).code, 0);
  expect_reported(shell("ulimit -f 64; exec \"$0\" \"$@\"", words("r", 20)));  // in blocks of 512 bytes or of 1024
  EXPECT_EQ(newest_checkpoint("r"), 10);
  EXPECT_EQ(chargpt({"inspect", "r"}).code, 0);
  ASSERT_EQ(chargpt(words("r", 20)).code, 0);
  expect_same_run("r", "straight", 20);
}

TEST_F(Disk, AFullStandardOutputIsReported) {
  ASSERT_EQ(chargpt(words("r", 3)).code, 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"sample", "--run", "r", "--length", "9"}, {"inspect", "r"}, {"config", "init"}}) {
    expect_reported(shell("exec \"$0\" \"$@\" > /dev/full", words));
  }
}

TEST_F(Disk, AStandardErrorThatTakesNothingChangesNoExitCode) {
  EXPECT_EQ(shell("exec \"$0\" \"$@\" 2> /dev/full", {"inspect", "none"}).code, 66);
  EXPECT_EQ(shell("exec \"$0\" \"$@\" 2> /dev/full", {"trian"}).code, 2);
  EXPECT_EQ(shell("exec \"$0\" \"$@\" 2>&-", {"inspect", "none"}).code, 66);
  EXPECT_EQ(shell("exec \"$0\" \"$@\" 2> /dev/full", words("r", 3)).code, 0);
  EXPECT_EQ(shell("exec \"$0\" \"$@\" 2>&- >&-", words("closed", 3)).code, 0);
  EXPECT_EQ(chargpt({"inspect", "closed"}).code, 0);
}

class RootDisk : public Disk {};

TEST_F(RootDisk, ASmallOneFillsUpAndIsReportedAndNothingIsLost) {
  std::filesystem::create_directory(dir_ / "small");
  ASSERT_EQ(mount("none", (dir_ / "small").c_str(), "tmpfs", 0, "size=1m"), 0) << "this test has to be root";
  const ProgramResult filled = chargpt(words("small/r", 50, {"--set", "train.keep=20"}));
  const std::int64_t newest = newest_checkpoint("small/r");
  const bool sound = chargpt({"inspect", "small/r"}).code == 0;
  const ProgramResult resumed = chargpt(words("small/r", 12, {"--set", "train.keep=1"}));
  umount((dir_ / "small").c_str());
  expect_reported(filled);
  EXPECT_NE(filled.err.find("No space left"), std::string::npos) << filled.err;
  EXPECT_GE(newest, 1);
  EXPECT_TRUE(sound);
  EXPECT_GE(newest, last_reported_save(filled.err));
  EXPECT_TRUE(resumed.code == 0 || resumed.code == 74) << resumed.err;
}

}  // namespace
}  // namespace chargpt
