#include "chargpt/base/data_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

class DataFilesTest : public ::testing::Test {
 protected:
  DataFilesTest() {
    std::filesystem::create_directories(folder_ / "b/c");
    std::filesystem::create_directories(folder_ / ".hidden");
    std::filesystem::create_directories(folder_ / "empty");
    for (const char* name :
         {"z.txt", "a.txt", "a.md", "b/1.txt", "b/c/2.txt", "b/.secret", ".hidden/3.txt", "x[1].txt"})
      folder_.write(name, "text");
  }
  /// Paths within the folder.
  std::vector<std::string> files(const std::string& path) const {
    std::vector<std::string> names;
    for (const std::string& file : data_files(folder_ / path)) names.push_back(file.substr(folder_.path().size() + 1));
    return names;
  }
  using Names = std::vector<std::string>;
  TempDir folder_;
};

TEST_F(DataFilesTest, AFileIsItself) { EXPECT_EQ(files("a.txt"), Names{"a.txt"}); }

TEST_F(DataFilesTest, AFolderIsAllFilesInItByNameButHiddenOnes) {
  EXPECT_EQ(files("b"), (Names{"b/1.txt", "b/c/2.txt"}));
}

TEST_F(DataFilesTest, APatternIsTheFilesThatMatch) {
  EXPECT_EQ(files("*.txt"), (Names{"a.txt", "x[1].txt", "z.txt"}));
  EXPECT_EQ(files("{z.txt,a.md}"), (Names{"a.md", "z.txt"}));
  EXPECT_EQ(files("?.txt"), (Names{"a.txt", "z.txt"}));
  EXPECT_EQ(files("*"), (Names{"a.md", "a.txt", "x[1].txt", "z.txt"}));  // folders are left out
}

TEST_F(DataFilesTest, AFileWhoseNameLooksLikeAPatternIsThatFile) { EXPECT_EQ(files("x[1].txt"), Names{"x[1].txt"}); }

TEST_F(DataFilesTest, NothingFoundIsNoInput) {
  expect_error(ExitCode::no_input, {"*.csv", "none that matches"}, [&] { files("*.csv"); });
  expect_error(ExitCode::no_input, {"empty", "no file in this folder"}, [&] { files("empty"); });
  expect_error(ExitCode::no_input, {"**/*.txt", "name the folder alone"}, [&] { files("**/*.txt"); });
  EXPECT_EQ(files("none.txt"), Names{"none.txt"});  // reading it says what is wrong
}

TEST_F(DataFilesTest, TellsWhetherAFileIsAmongThem) {
  EXPECT_TRUE(is_data_file(folder_ / "b/c/2.txt", folder_ / "b"));
  EXPECT_TRUE(is_data_file(folder_ / "b/../a.txt", folder_ / "*.txt"));
  EXPECT_FALSE(is_data_file(folder_ / "a.md", folder_ / "*.txt"));
  EXPECT_FALSE(is_data_file(folder_ / "a.md", folder_ / "empty"));
  EXPECT_FALSE(is_data_file(folder_ / "a.md", "-"));
}

TEST_F(DataFilesTest, ADashIsStandardInput) { EXPECT_EQ(data_files("-"), std::vector<std::string>{"-"}); }

}  // namespace
}  // namespace chargpt
