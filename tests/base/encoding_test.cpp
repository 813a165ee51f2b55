#include "chargpt/base/encoding.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

constexpr const char* kRussian =
    "Мой дядя самых честных правил, когда не в шутку занемог, он уважать себя заставил и лучше выдумать не мог.\n";
constexpr const char* kChinese = "床前明月光，疑是地上霜。举头望明月，低头思故乡。空山不见人，但闻人语响。\n";
constexpr const char* kJapanese = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n";

/// `text` as a program of that encoding writes it.
std::string encoded(const std::string& text, const std::string& encoding) {
  const std::string command = "iconv -f UTF-8 -t " + encoding + " <<'END'\n" + text + "END\n";
  std::string bytes;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) bytes.push_back(static_cast<char>(c));
  EXPECT_EQ(pclose(pipe), 0);
  return bytes;
}

std::string in_utf8(const std::string& bytes, const std::string& encoding, const std::string& name) {
  return read_all(*to_utf8(std::make_unique<TextSource>(bytes), encoding, name));
}

TEST(Encoding, KnowsWhatTheSystemConverts) {
  for (const char* known : {"UTF-8", "utf8", "WINDOWS-1252", "GB18030", "SHIFT_JIS", "KOI8-R", "UTF-16"}) {
    EXPECT_TRUE(is_known_encoding(known)) << known;
  }
  for (const char* unknown : {"", "UTF-9", "LATIN1//IGNORE", "UTF-8//TRANSLIT"}) {
    EXPECT_FALSE(is_known_encoding(unknown)) << unknown;
  }
}

TEST(Encoding, ConvertsWhatIconvWrites) {
  for (const char* encoding : {"WINDOWS-1251", "KOI8-R", "UTF-16", "UTF-16LE", "UTF-32", "GB18030", "UTF-8"}) {
    EXPECT_EQ(in_utf8(encoded(kRussian, encoding), encoding, "d.txt"), kRussian) << encoding;
  }
  EXPECT_EQ(in_utf8(encoded(kJapanese, "SHIFT_JIS"), "SHIFT_JIS", "d.txt"), kJapanese);
  EXPECT_EQ(in_utf8("s\x92s\x80", "WINDOWS-1252", "d.txt"), "s\xE2\x80\x99s\xE2\x82\xAC");
}

TEST(Encoding, ConvertsTextsLargerThanItsBuffer) {
  const std::string text(1 << 20, '\xE9');
  std::string expected;
  for (std::size_t i = 0; i < text.size(); ++i) expected += "\xC3\xA9";
  EXPECT_TRUE(in_utf8(text, "ISO-8859-1", "d.txt") == expected);
}

TEST(Encoding, AByteThatIsNotValidIsNamedWithItsPlace) {
  expect_error(ExitCode::bad_data,
               {"d.txt: not valid WINDOWS-1252 at byte offset 4 (line 2, column 2): 0x81", "data.encoding"},
               [] { in_utf8("ab\nc\x81", "WINDOWS-1252", "d.txt"); });
  expect_error(ExitCode::bad_data, {"not valid SHIFT_JIS at byte offset 1"},
               [] { in_utf8("a\x82", "SHIFT_JIS", "d"); });
  expect_error(ExitCode::usage, {"UTF-9", "iconv -l"}, [] { in_utf8("a", "UTF-9", "d.txt"); });
}

TEST(Encoding, WhatIsNotValidInOneIsGuessedToBeInAnother) {
  // 0x81 is the second byte of Ё in UTF-8, and no character of WINDOWS-1252.
  expect_error(ExitCode::bad_data, {"(line 1, column 2): 0x81", "say --set data.encoding=UTF-8"},
               [] { in_utf8("\xD0\x81\xD0\xB6", "WINDOWS-1252", "d.txt"); });
  expect_error(ExitCode::bad_data, {"not valid UTF-16", "say --set data.encoding=UTF-8"},
               [] { in_utf8("abc", "UTF-16LE", "d.txt"); });
  expect_error(ExitCode::bad_data, {"not valid UTF-16LE", "say --set data.encoding=KOI8-R"},
               [] { in_utf8(encoded(kRussian, "KOI8-R") + "\n", "UTF-16LE", "d.txt"); });
  const std::string long_text(300'000, 'a');  // several buffers
  expect_error(ExitCode::bad_data, {"column 300002", "say --set data.encoding=UTF-8"},
               [&] { in_utf8(long_text + "\xD0\x81\xD0\xB6", "WINDOWS-1252", "d.txt"); });
}

TEST(Encoding, WhatIsNotValidInItsOwnIsNotGuessedToBeUtf8) {
  for (const auto& [bytes, encoding] :
       {std::pair{encoded("plain text", "UTF-16LE") + "a", "UTF-16LE"},
        std::pair{encoded(kJapanese, "SHIFT_JIS") + "\x82", "SHIFT_JIS"},
        std::pair{encoded("plain", "UTF-32LE") + std::string("\0\0\x11\0", 4), "UTF-32LE"}}) {
    expect_error(ExitCode::bad_data, {"not valid", "name the file's own encoding"},
                 [&] { in_utf8(bytes, encoding, "d.txt"); });
  }
}

TEST(Encoding, GuessesWhatCommonTextsAreIn) {
  for (const char* encoding : {"UTF-16", "UTF-32", "WINDOWS-1251", "KOI8-R"}) {
    EXPECT_EQ(likely_encoding(encoded(kRussian, encoding)), encoding);
  }
  EXPECT_EQ(likely_encoding(encoded(kChinese, "GB18030")), "GB18030");
  EXPECT_EQ(likely_encoding(encoded(kJapanese, "SHIFT_JIS")), "SHIFT_JIS");
  EXPECT_EQ(likely_encoding(encoded(kJapanese, "EUC-JP")), "EUC-JP");
  EXPECT_EQ(likely_encoding(encoded("plain text\n", "UTF-16LE")), "UTF-16LE");
  EXPECT_EQ(likely_encoding(encoded("plain text\n", "UTF-16BE")), "UTF-16BE");
}

TEST(Encoding, AStrayWindowsByteIsTakenForOne) {
  EXPECT_EQ(likely_encoding(std::string(7047, 'x') + "\x92s"), "WINDOWS-1252");
}

TEST(Encoding, EveryGuessCanBeRead) {
  std::string noise;
  for (unsigned i = 0; i < 3000; ++i) noise.push_back(static_cast<char>(i * i * 2654435761U >> 13));
  for (std::size_t length = 1; length <= noise.size(); length = length * 3 + 1) {
    const std::string guess = likely_encoding(noise.substr(0, length));
    if (!guess.empty()) {
      EXPECT_NO_THROW(in_utf8(noise.substr(0, length), guess, "d.txt")) << guess << ' ' << length;
    }
  }
}

}  // namespace
}  // namespace chargpt
