#include "chargpt/base/unnamed_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

TEST(UnnamedFile, HoldsWhatIsWrittenAndHasNoName) {
  const TempDir folder;
  const UnnamedFile file(folder.path(), "the text");
  FileWriter writer = file.writer();
  writer.write("abc");
  const FileReader early = file.reader();
  file.writer().write("def");
  std::string bytes(7, '\0');
  EXPECT_EQ(early.read(1, bytes), 5);
  EXPECT_EQ(bytes.substr(0, 5), "bcdef");
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(UnnamedFile, OutlivesItselfInItsReaders) {
  const TempDir folder;
  const FileReader reader = [&] {
    const UnnamedFile file(folder.path(), "the text");
    file.writer().write("abc");
    return file.reader();
  }();
  std::string bytes(3, '\0');
  EXPECT_EQ(reader.read(0, bytes), 3);
  EXPECT_EQ(bytes, "abc");
}

TEST(UnnamedFile, SaysWhatAndWhereItCannotBe) {
  const TempDir folder;
  expect_error(ExitCode::cannot_create, {"cannot write the text: No such file"},
               [&] { UnnamedFile(folder / "none", "the text"); });
}

}  // namespace
}  // namespace chargpt
