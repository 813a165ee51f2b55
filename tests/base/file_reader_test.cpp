#include "chargpt/base/file_reader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>

#include "chargpt/base/file.hpp"
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

/// Letters whose order shows where a piece is missing.
std::string text_of(std::size_t count) {
  std::string text(count, '\0');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>('a' + i * i % 25);
  return text;
}

TEST(ReadInput, ReadsAPipeToItsEnd) {
  const TempDir folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string bytes = text_of(200'000);  // more than a pipe holds
  std::thread writer([&] {
    FileWriter file(folder / "pipe");
    for (std::size_t at = 0; at < bytes.size(); at += 50'000) file.write(std::string_view(bytes).substr(at, 50'000));
  });
  const std::string got = read_input(folder / "pipe", 200'000);
  writer.join();
  EXPECT_TRUE(got == bytes);
  EXPECT_TRUE(read_input(folder.write("file", bytes), 200'000) == bytes);
  EXPECT_EQ(read_input("/dev/null", 1), "");
}

TEST(ReadInput, RefusesFoldersAndWhatHasNoEnd) {
  const TempDir folder;
  expect_error(ExitCode::no_input, {folder.path(), "folder"}, [&] { read_input(folder.path(), 9); });
  expect_error(ExitCode::no_input, {folder / "none", "No such file"}, [&] { read_input(folder / "none", 9); });
  expect_error(ExitCode::bad_data, {"/dev/zero", "more than 99 bytes"}, [&] { read_input("/dev/zero", 99); });
  EXPECT_EQ(read_input(folder.write("file", "12345"), 5), "12345");
  expect_error(ExitCode::bad_data, {folder / "file", "more than 4 bytes"}, [&] { read_input(folder / "file", 4); });
}

}  // namespace
}  // namespace chargpt
