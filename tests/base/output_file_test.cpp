#include "chargpt/base/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// As the program does, so that a write reports them.
void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(OutputFile, ReplacesAFileAsAWholeOrNotAtAll) {
  const TempDir dir;
  dir.write("file", "old");
  {
    OutputFile file(dir / "file");
    EXPECT_FALSE(file.streams());
    file.write("half");
  }
  EXPECT_EQ(read_file(dir / "file"), "old");
  write_output_file(dir / "file", "new");
  EXPECT_EQ(read_file(dir / "file"), "new");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(OutputFile, KeepsTheOldFilesPermissionsAndRemovesWhatEndedProcessesLeft) {
  const TempDir dir;
  dir.write("file", "old");
  dir.write(".tmp-file-999999999", "half");  // no process has this number
  dir.write(".tmp-other-999999999", "half");
  fs::permissions(dir / "file", fs::perms::owner_read | fs::perms::owner_write);
  write_output_file(dir / "file", "new");
  EXPECT_EQ(fs::status(dir / "file").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(entries(dir.path()), 2u);
}

TEST(OutputFile, LeavesALinkALink) {
  const TempDir dir;
  fs::create_directory(dir / "far");
  fs::create_symlink("far/file", dir / "link");
  fs::create_symlink(dir / "link", dir / "second");
  for (const std::string contents : {"made", "replaced"}) {
    write_output_file(dir / "second", contents);
    EXPECT_EQ(read_file(dir / "far/file"), contents);
  }
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_TRUE(fs::is_symlink(dir / "second"));
  EXPECT_EQ(entries(dir / "far"), 1u);
}

TEST(OutputFile, APipeGetsThePiecesAsTheyCome) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  const int reader = open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  {
    OutputFile file(dir / "pipe");
    EXPECT_TRUE(file.streams());
    file.write("ab");
    char got[3] = {};
    EXPECT_EQ(read(reader, got, sizeof got), 2);
    EXPECT_STREQ(got, "ab");
    file.close();
  }
  close(reader);
  EXPECT_EQ(entries(dir.path()), 1u);
  write_output_file("/dev/null", "ab");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, AReaderThatLeavesIsNoError) {
  ignore_broken_pipes();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  close(ends[0]);
  write_output_file("/dev/fd/" + std::to_string(ends[1]), "x");
  close(ends[1]);
}

/// By its name, a file would be opened once more and written from its start.
TEST(OutputFile, ADescriptorOfThisProcessIsWrittenWhereItStands) {
  const TempDir dir;
  const int file = open((dir / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(write(file, "ab", 2), 2);
  fs::create_symlink("/proc/self/fd/" + std::to_string(file), dir / "link");
  write_output_file("/dev/fd/" + std::to_string(file), "cd");
  write_output_file(dir / "link", "ef");
  ASSERT_EQ(write(file, "gh", 2), 2);
  close(file);
  EXPECT_EQ(read_file(dir / "file"), "abcdefgh");
  expect_error(ExitCode::cannot_create, {"/dev/fd/" + std::to_string(file)},
               [&] { write_output_file("/dev/fd/" + std::to_string(file), "x"); });
}

TEST(OutputFile, SaysWhatIsWrongWithItsPlace) {
  const TempDir dir;
  expect_error(ExitCode::cannot_create, {"cannot create " + (dir / "none/file") + ": the folder " + (dir / "none")},
               [&] { OutputFile{dir / "none/file"}; });
  expect_error(ExitCode::cannot_create, {dir.path() + ": it is a folder"}, [&] { OutputFile{dir.path()}; });
  EXPECT_EQ(entries(dir.path()), 0u);
}

}  // namespace
}  // namespace chargpt
