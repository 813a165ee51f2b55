#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

std::string jsonl(const std::vector<std::string>& texts) {
  std::string lines;
  for (const auto& text : texts) lines += to_json_line({{"text", text}}) + "\n";
  return lines;
}

class ReadDocumentsTest : public ::testing::Test {
 protected:
  Documents read(const std::string& name, const std::string& contents, DataFormat format = DataFormat::automatic) {
    return read_documents(folder_.write(name, contents), format, "text");
  }
  void expect_refused(const std::string& name, const std::string& contents, const std::string& part) {
    expect_error(ExitCode::bad_data, {part}, [&] { read(name, contents); });
  }
  TempDir folder_;
};

TEST_F(ReadDocumentsTest, ATextFileIsOneDocumentWithNothingChanged) {
  const auto documents = read("d.txt", "a\r\n\xC3\xB6 {\"text\": 1}\n\n");
  ASSERT_EQ(documents.texts.size(), 1);
  EXPECT_EQ(documents.texts[0], U"a\r\n\u00F6 {\"text\": 1}\n\n");
  EXPECT_FALSE(documents.end_mark);
  EXPECT_EQ(documents.bytes, 19);
  EXPECT_EQ(documents.hash.size(), 32);
}

TEST_F(ReadDocumentsTest, ALeadingByteOrderMarkIsDroppedAndNoOther) {
  EXPECT_EQ(read("d.txt",
                 "\xEF\xBB\xBF"
                 "a\xEF\xBB\xBF")
                .texts[0],
            U"a\uFEFF");
  EXPECT_EQ(read("d.jsonl", "\xEF\xBB\xBF" + jsonl({"a"})).texts[0], U"a");
}

TEST_F(ReadDocumentsTest, EachJsonlLineIsADocument) {
  const auto documents = read("d.jsonl", "{\"text\": \"a\\nb\"}\r\n\n  \t\n{\"n\": 1, \"text\": \"\\ud83d\\ude00\"}");
  EXPECT_EQ(documents.texts, (std::vector<std::u32string>{U"a\nb", U"\U0001F600"}));
  EXPECT_TRUE(documents.end_mark);
}

TEST_F(ReadDocumentsTest, ADocumentWithoutTextIsSkipped) {
  EXPECT_EQ(read("d.jsonl", jsonl({"", "a", ""})).texts, std::vector<std::u32string>{U"a"});
}

TEST_F(ReadDocumentsTest, AFormatThatIsGivenOverridesTheName) {
  EXPECT_TRUE(read("d.txt", jsonl({"a"}), DataFormat::jsonl).end_mark);
  EXPECT_FALSE(read("d.jsonl", jsonl({"a"}), DataFormat::text).end_mark);
}

TEST_F(ReadDocumentsTest, AnEmptyFileIsSaidToBeEmpty) {
  for (const std::string name : {"d.txt", "d.jsonl"}) {
    expect_refused(name, "", "/" + name + ": file is empty");
    expect_refused(name, "\xEF\xBB\xBF", "/" + name + ": file is empty");
  }
}

TEST_F(ReadDocumentsTest, JsonlWithoutAnyTextIsRefused) {
  expect_refused("d.jsonl", "\n\n", "no document has any text in its field \"text\"");
  expect_refused("d.jsonl", jsonl({""}), "no document has any text in its field \"text\"");
}

TEST_F(ReadDocumentsTest, AFaultyLineIsNamed) {
  const std::string good = jsonl({"a"}) + "\n";
  expect_refused("d.jsonl", good + "{\"text\": ", "d.jsonl, line 3");
  expect_refused("d.jsonl", good + "[1]", "d.jsonl, line 3: expected an object, got a JSON array");
  expect_refused("d.jsonl", good + "{\"body\": \"a\"}", "d.jsonl, line 3: no field \"text\"");
  expect_refused("d.jsonl", good + "{\"text\": 7}", "line 3: field \"text\" should be a string");
}

TEST_F(ReadDocumentsTest, ABadByteIsNamedByItsPlaceInTheFile) {
  expect_refused("d.txt",
                 "\xEF\xBB\xBF"
                 "ab\n\x92",
                 "d.txt: not valid UTF-8 at byte offset 6 (line 2): 0x92");
  expect_refused("d.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\x92\"}\n", "offset 24 (line 2): 0x92");
}

TEST_F(ReadDocumentsTest, AMissingFileAndAFolderAreNoInput) {
  const auto read_path = [](const std::string& path) { read_documents(path, DataFormat::automatic, "text"); };
  expect_error(ExitCode::no_input, {"none.txt"}, [&] { read_path(folder_ / "none.txt"); });
  expect_error(ExitCode::no_input, {folder_.path(), "folder"}, [&] { read_path(folder_.path()); });
}

}  // namespace
}  // namespace chargpt
