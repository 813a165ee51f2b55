#include "chargpt/base/text_reader.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "chargpt/base/json.hpp"
#include "support/read_documents.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

std::string jsonl(const std::vector<std::string>& texts) {
  std::string lines;
  for (const auto& text : texts) lines += to_json_line({{"text", text}}) + "\n";
  return lines;
}

class TextReaderTest : public ::testing::Test {
 protected:
  ReadDocuments read(const std::string& name, const std::string& contents, DataFormat format = DataFormat::automatic) {
    return read_documents(folder_.write(name, contents), {.format = format});
  }
  void expect_refused(const std::string& name, const std::string& contents, const std::string& part) {
    expect_error(ExitCode::bad_data, {part}, [&] { read(name, contents); });
  }
  TempDir folder_;
};

TEST_F(TextReaderTest, ATextFileIsOneDocumentWithNothingChanged) {
  const auto documents = read("d.txt", "a\r\n\xC3\xB6 {\"text\": 1}\n\n");
  ASSERT_EQ(documents.texts.size(), 1);
  EXPECT_EQ(documents.texts[0], U"a\r\n\u00F6 {\"text\": 1}\n\n");
  EXPECT_FALSE(documents.end_mark);
  EXPECT_EQ(documents.summary.bytes, 19);
  EXPECT_EQ(documents.summary.hash.size(), 32);
}

TEST_F(TextReaderTest, ALeadingByteOrderMarkIsDroppedAndNoOther) {
  EXPECT_EQ(read("d.txt",
                 "\xEF\xBB\xBF"
                 "a\xEF\xBB\xBF")
                .texts[0],
            U"a\uFEFF");
  EXPECT_EQ(read("d.jsonl", "\xEF\xBB\xBF" + jsonl({"a"})).texts[0], U"a");
}

TEST_F(TextReaderTest, EachJsonlLineIsADocument) {
  const auto documents = read("d.jsonl", "{\"text\": \"a\\nb\"}\r\n\n  \t\n{\"n\": 1, \"text\": \"\\ud83d\\ude00\"}");
  EXPECT_EQ(documents.texts, (std::vector<std::u32string>{U"a\nb", U"\U0001F600"}));
  EXPECT_TRUE(documents.end_mark);
}

TEST_F(TextReaderTest, ADocumentWithoutTextIsSkipped) {
  EXPECT_EQ(read("d.jsonl", jsonl({"", "a", ""})).texts, std::vector<std::u32string>{U"a"});
}

TEST_F(TextReaderTest, AFormatThatIsGivenOverridesTheName) {
  EXPECT_TRUE(read("d.txt", jsonl({"a"}), DataFormat::jsonl).end_mark);
  EXPECT_FALSE(read("d.jsonl", jsonl({"a"}), DataFormat::text).end_mark);
}

TEST_F(TextReaderTest, AnEmptyFileIsSaidToBeEmpty) {
  for (const std::string name : {"d.txt", "d.jsonl"}) {
    expect_refused(name, "", "/" + name + ": file is empty");
    expect_refused(name, "\xEF\xBB\xBF", "/" + name + ": file is empty");
  }
}

TEST_F(TextReaderTest, JsonlWithoutAnyTextIsRefused) {
  expect_refused("d.jsonl", "\n\n", "no document has any text in its field \"text\"");
  expect_refused("d.jsonl", jsonl({""}), "no document has any text in its field \"text\"");
}

TEST_F(TextReaderTest, AFaultyLineIsNamed) {
  const std::string good = jsonl({"a"}) + "\n";
  expect_refused("d.jsonl", good + "{\"text\": ", "d.jsonl, line 3");
  expect_refused("d.jsonl", good + "[1]", "d.jsonl, line 3: expected an object, got a JSON array");
  expect_refused("d.jsonl", good + "{\"body\": \"a\"}", "d.jsonl, line 3: no field \"text\"");
  expect_refused("d.jsonl", good + "{\"text\": 7}", "line 3: field \"text\" should be a string");
}

TEST_F(TextReaderTest, ABadByteIsNamedByItsPlaceInTheFile) {
  expect_refused("d.txt",
                 "\xEF\xBB\xBF"
                 "ab\n\x92",
                 "d.txt: not valid UTF-8 at byte offset 6 (line 2, column 1): 0x92");
  expect_refused("d.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\x92\"}\n", "offset 24 (line 2, column 11): 0x92");
}

TEST_F(TextReaderTest, ABadByteBringsTheOptionsThatReadTheFile) {
  expect_refused("d.txt", std::string(50, 'x') + "\x92s",
                 "if it is WINDOWS-1252, as it seems, say --set data.encoding=WINDOWS-1252");
  expect_refused("d.txt", std::string(50, 'x') + "\x92s", "--set data.format=bytes");
  folder_.write("d.txt", "s\x92s");
  EXPECT_EQ(read_documents(folder_ / "d.txt", {.encoding = "WINDOWS-1252"}).texts[0], U"s\u2019s");
  EXPECT_EQ(read_documents(folder_ / "d.txt", {.format = DataFormat::bytes}).texts[0], U"s\u0092s");
}

TEST_F(TextReaderTest, BytesAreTakenAsTheyAre) {
  const std::string bytes("\xEF\xBB\xBF\r\n\0\xFF\x1F\x8B", 9);
  const auto documents = read("d.jsonl", bytes, DataFormat::bytes);
  ASSERT_EQ(documents.texts.size(), 1U);
  EXPECT_TRUE(documents.texts[0] == std::u32string(U"\u00EF\u00BB\u00BF\r\n\0\u00FF\u001F\u008B", 9));
  EXPECT_FALSE(documents.end_mark);
  const auto packed = read("d.gz", "\x1F\x8B", DataFormat::bytes);
  EXPECT_EQ(packed.texts[0], U"\u001F\u008B");
}

TEST_F(TextReaderTest, EachLineIsADocumentWithoutItsEnd) {
  const auto documents = read("d.txt",
                              "\xEF\xBB\xBF"
                              "emma\r\n\n  \nolivia\ra\n\r\nava",
                              DataFormat::lines);
  EXPECT_EQ(documents.texts, (std::vector<std::u32string>{U"emma", U"  ", U"olivia\ra", U"ava"}));
  EXPECT_TRUE(documents.end_mark);
  expect_error(ExitCode::bad_data, {"every line is empty"}, [&] { read("d.txt", "\n\r\n", DataFormat::lines); });
}

TEST_F(TextReaderTest, EveryDocumentIsNormalised) {
  const std::string text = "o\xCC\x88";
  for (const DataFormat format : {DataFormat::text, DataFormat::lines, DataFormat::jsonl}) {
    folder_.write("d", format == DataFormat::jsonl ? jsonl({text}) : text);
    EXPECT_EQ(read_documents(folder_ / "d", {.format = format, .normalize = Normalization::nfc}).texts[0], U"\u00F6");
    EXPECT_EQ(read_documents(folder_ / "d", {.format = format}).texts[0], U"o\u0308");
  }
}

TEST_F(TextReaderTest, FilesOfAFolderAreDocumentsInOrder) {
  std::filesystem::create_directories(folder_ / "books");
  folder_.write("books/b.txt", "second");
  folder_.write("books/a.txt", "first");
  folder_.write("books/empty.txt", "");
  const auto documents = read_documents(folder_ / "books", {});
  EXPECT_EQ(documents.texts, (std::vector<std::u32string>{U"first", U"second"}));
  EXPECT_EQ(documents.summary.bytes, 11U);
  folder_.write("books/a.txt", "other");
  EXPECT_NE(read_documents(folder_ / "books", {}).summary.hash, documents.summary.hash);
}

TEST_F(TextReaderTest, PackedFilesReadAsTheirContents) {
  folder_.write("d.jsonl", jsonl({"a", "b"}));
  ASSERT_EQ(std::system(("gzip -k " + folder_ / "d.jsonl").c_str()), 0);
  const auto plain = read_documents(folder_ / "d.jsonl", {}), packed = read_documents(folder_ / "d.jsonl.gz", {});
  EXPECT_EQ(packed.texts, plain.texts);
  EXPECT_TRUE(packed.end_mark);
  EXPECT_EQ(packed.summary.hash, plain.summary.hash);
  EXPECT_EQ(packed.summary.bytes, plain.summary.bytes);
}

TEST_F(TextReaderTest, ALineThatIsNestedTooDeepIsRefused) {
  expect_refused("d.jsonl", "{\"text\": \"a\", \"more\": " + std::string(100'000, '['), "nested deeper");
}

TEST_F(TextReaderTest, AMissingFileAndAFolderAreNoInput) {
  const auto read_path = [](const std::string& path) { read_documents(path, {}); };
  expect_error(ExitCode::no_input, {"none.txt"}, [&] { read_path(folder_ / "none.txt"); });
  expect_error(ExitCode::no_input, {folder_.path(), "folder"}, [&] { read_path(folder_.path()); });
}

}  // namespace
}  // namespace chargpt
