#include "chargpt/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// The bytes that xxHash's own sanity check hashes.
std::string xxhash_test_bytes(std::size_t count) {
  std::string bytes;
  std::uint64_t state = 2654435761U;
  for (std::size_t i = 0; i < count; ++i, state *= 11400714785074694797ULL) {
    bytes += static_cast<char>(state >> 56);
  }
  return bytes;
}

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Xxh3, GivesThePublishedDigests) {
  EXPECT_EQ(xxh3_128(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(xxh3_128(xxhash_test_bytes(1)), "a6cd5e9392000f6ac44bdff4074eecdb");
  EXPECT_EQ(xxh3_128(xxhash_test_bytes(6)), "082afe0b8162d12a3e7039bdda43cfc6");
  EXPECT_EQ(xxh3_128(xxhash_test_bytes(81)), "4952f58181ab00425e8bafb9f95fb803");
  EXPECT_EQ(xxh3_128(xxhash_test_bytes(222)), "337e09641b948717f1aebd597cec6b3a");
  EXPECT_EQ(xxh3_128(xxhash_test_bytes(403)), "1b6de21e332dd73dcdeb804d65c6dea4");
}

TEST(Xxh3, OverPiecesIsTheSameAsOverTheWhole) {
  const std::string bytes = xxhash_test_bytes(3000);
  for (const std::size_t piece : {1, 7, 240, 1024, 2999}) {
    Xxh3Hasher hasher;
    for (std::size_t at = 0; at < bytes.size(); at += piece) hasher.update(std::string_view(bytes).substr(at, piece));
    EXPECT_EQ(hasher.digest(), xxh3_128(bytes)) << "pieces of " << piece;
    EXPECT_EQ(hasher.digest_64(), xxh3_64(bytes)) << "pieces of " << piece;
  }
}

TEST(Xxh3, StartsAnew) {
  Xxh3Hasher hasher;
  for (const std::size_t size : {0, 1, 81, 240, 241, 3000}) {
    hasher.start_anew();
    hasher.update(xxhash_test_bytes(size));
    EXPECT_EQ(hasher.digest_64(), xxh3_64(xxhash_test_bytes(size))) << size;
    EXPECT_EQ(hasher.digest(), xxh3_128(xxhash_test_bytes(size))) << size;
  }
}

TEST(ReadFile, GivesBackEveryByte) {
  const TempDir dir;
  const std::string bytes = xxhash_test_bytes(100'000);
  EXPECT_EQ(read_file(dir.write("file", bytes)), bytes);
  EXPECT_EQ(read_file(dir.write("empty", "")), "");
}

TEST(ReadFile, OfAMissingFileOrFolderIsMissingInput) {
  const TempDir dir;
  expect_error(ExitCode::no_input, {dir / "none", "No such file"}, [&] { read_file(dir / "none"); });
  expect_error(ExitCode::no_input, {dir.path(), "folder"}, [&] { read_file(dir.path()); });
  dir.write("file", "x");
  expect_error(ExitCode::no_input, {dir / "file/x"}, [&] { read_file(dir / "file/x"); });
}

TEST(ReadFile, RefusesPipesAndDevicesAtOnce) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  expect_error(ExitCode::no_input, {"pipe", "regular file"}, [&] { read_file(dir / "pipe"); });
  expect_error(ExitCode::no_input, {"/dev/zero", "regular file"}, [&] { read_file("/dev/zero"); });
}

TEST(ReadFile, RefusesMoreBytesThanTheLimit) {
  const TempDir dir;
  const std::string path = dir.write("file", "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  expect_error(ExitCode::unusable_model, {path, "5 bytes", "at most 4"},
               [&] { read_file(path, 4, ExitCode::unusable_model); });
}

TEST(FileWriter, WritesThePiecesInOrderOverWhatWasThere) {
  const TempDir dir;
  FileWriter writer(dir.write("file", "something longer"));
  writer.write("ab");
  writer.write("");
  writer.write("c");
  writer.close();
  EXPECT_EQ(read_file(dir / "file"), "abc");
}

TEST(FileWriter, CannotCreateAFileInAMissingFolderOrOverAFolder) {
  const TempDir dir;
  expect_error(ExitCode::cannot_create,
               {"cannot create " + (dir / "none/file") + ": the folder " + (dir / "none") + " does not exist"},
               [&] { FileWriter(dir / "none/file"); });
  dir.write("taken", "");
  expect_error(ExitCode::cannot_create, {dir / "taken/file", "Not a directory"},
               [&] { FileWriter(dir / "taken/file"); });
  expect_error(ExitCode::cannot_create, {dir.path(), "directory"}, [&] { FileWriter writer(dir.path()); });
}

TEST(FileWriter, ReportsAFullDiskAndNeverSucceedsAfterIt) {
  FileWriter writer("/dev/full");
  expect_error(ExitCode::io, {"/dev/full", "No space left"}, [&] { writer.write("x"); });
  expect_error(ExitCode::io, {"/dev/full"}, [&] { writer.write("x"); });
  expect_error(ExitCode::io, {"/dev/full"}, [&] { writer.close(); });
}

/// Files of this process may have at most `bytes` bytes while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST(FileWriter, ReportsWhatDidNotFitAfterAShortWrite) {
  const TempDir dir;
  const FileSizeLimit limit(1000);
  FileWriter writer(dir / "file");
  expect_error(ExitCode::io, {dir / "file", "too large"}, [&] { writer.write(std::string(1500, 'x')); });
  EXPECT_EQ(fs::file_size(dir / "file"), 1000u);
}

TEST(WriteFileAtomically, ReplacesTheWholeFileAndLeavesNothingElse) {
  const TempDir dir;
  write_file_atomically(dir / "file", "first, longer");
  write_file_atomically(dir / "file", "second");
  EXPECT_EQ(read_file(dir / "file"), "second");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  const TempDir dir;
  write_file_atomically(dir / "file", "old");
  const FileSizeLimit limit(1000);
  expect_error(ExitCode::io, {"too large"}, [&] { write_file_atomically(dir / "file", std::string(1001, 'x')); });
  EXPECT_EQ(read_file(dir / "file"), "old");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(WriteFileAtomically, LeavesNothingBehindWhenTheNameIsTaken) {
  const TempDir dir;
  make_folders(dir / "taken/inner");
  expect_error(ExitCode::cannot_create, {(dir / "taken") + ": it is a folder"},
               [&] { write_file_atomically(dir / "taken", "x"); });
  expect_error(ExitCode::cannot_create, {"cannot create " + (dir / "none/file") + ": the folder"},
               [&] { write_file_atomically(dir / "none/file", "x"); });
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicFile, IsNotThereBeforeItIsClosedAndNeverIfItIsNot) {
  const TempDir dir;
  dir.write("file", "old");
  {
    AtomicFile file(dir / "file");
    file.write("half");
    EXPECT_EQ(read_file(dir / "file"), "old");
    EXPECT_EQ(entries(dir.path()), 2u);
  }
  EXPECT_EQ(read_file(dir / "file"), "old");
  EXPECT_EQ(entries(dir.path()), 1u);
  AtomicFile file(dir / "file");
  for (const char* piece : {"n", "e", "w"}) file.write(piece);
  file.close();
  EXPECT_EQ(read_file(dir / "file"), "new");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicFile, NamesWhatIsWantedInItsErrors) {
  const TempDir dir;
  const FileSizeLimit limit(1000);
  AtomicFile file(dir / "file");
  expect_error(ExitCode::io, {"cannot write " + (dir / "file") + ": "}, [&] { file.write(std::string(1001, 'x')); });
}

TEST(MakeFolders, MakesParentsAndAcceptsWhatExists) {
  const TempDir dir;
  make_folders(dir / "a/b/c/");
  make_folders(dir / "a/b/c");
  EXPECT_TRUE(fs::is_directory(dir / "a/b/c"));
}

TEST(MakeFolders, CannotGoThroughAFile) {
  const TempDir dir;
  dir.write("file", "");
  expect_error(ExitCode::cannot_create, {dir / "file", "File exists"}, [&] { make_folders(dir / "file"); });
  expect_error(ExitCode::cannot_create, {dir / "file"}, [&] { make_folders(dir / "file/a"); });
  expect_error(ExitCode::cannot_create, {}, [&] { make_folders(""); });
}

TEST(SyncFolder, OfAMissingFolderIsAnIoError) {
  const TempDir dir;
  sync_folder(dir.path());
  expect_error(ExitCode::io, {dir / "none"}, [&] { sync_folder(dir / "none"); });
}

}  // namespace
}  // namespace chargpt
