#include "chargpt/base/file_reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

TEST(FileReader, ReadsFromAnyPlaceUntilTheEnd) {
  const TempDir folder;
  const FileReader file(folder.write("t", "abcdef"));
  std::string some(4, '.');
  EXPECT_EQ(file.read(0, some), 4);
  EXPECT_EQ(some, "abcd");
  EXPECT_EQ(file.read(4, some), 2);
  EXPECT_EQ(some, "efcd");
  EXPECT_EQ(file.read(6, some), 0);
  EXPECT_EQ(file.read(100, some), 0);
  EXPECT_EQ(file.read(0, {}), 0);
}

TEST(FileReader, StampsTellAFileFromWhatItBecomes) {
  const TempDir folder;
  const auto stamp = [&] { return FileReader(folder / "t").stamp(); };
  folder.write("t", "abcdef");
  const FileStamp before = stamp();
  EXPECT_EQ(before.size, 6);
  EXPECT_EQ(stamp(), before);
  const auto time = std::filesystem::last_write_time(folder / "t");
  std::filesystem::remove(folder / "t");
  folder.write("t", "ghijkl");
  std::filesystem::last_write_time(folder / "t", time);
  EXPECT_NE(stamp(), before);
}

TEST(FileReader, OnlyARegularFileIsRead) {
  const TempDir folder;
  const auto open = [](const std::string& path) { FileReader{path}; };
  expect_error(ExitCode::no_input, {"none"}, [&] { open(folder / "none"); });
  expect_error(ExitCode::no_input, {"folder"}, [&] { open(folder.path()); });
  expect_error(ExitCode::no_input, {"device or pipe"}, [&] { open("/dev/null"); });
}

}  // namespace
}  // namespace chargpt
