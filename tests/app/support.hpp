#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace chargpt {

/// 20 kB of ASCII text.
inline std::string plain_text() {
  std::string text;
  for (int i = 0; text.size() < 20000; ++i)
    text += "ROMEO: the cat sat on mat " + std::to_string(i * 37 % 101) + ", and ran.\n";
  return text;
}

/// Runs the program in a folder of its own that holds d.txt and t.json, a model of seconds.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    dir_.write("d.txt", plain_text());
    dir_.write("t.json", R"({"data": {"path": "d.txt"}, "model": {"layers": 1, "width": 32, "heads": 2, "context": 16},
      "train": {"batch": 4, "steps": 50, "save_every": 10, "eval_every": 25}, "run": {"seed": 1, "threads": 1}})");
  }

  ProgramResult chargpt(std::vector<std::string> words, ProgramOptions options = {}) const {
    words.insert(words.begin(), CHARGPT_PROGRAM);
    options.folder = dir_.path();
    return run_program(words, options);
  }

  ProgramResult train(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"train", "--config", "t.json", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return chargpt(words);
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(dir_ / name); }

  /// One line on stderr that begins with "error: " and holds all parts; nothing on stdout; the exit code.
  static void expect_error(const ProgramResult& result, int code, const std::vector<std::string>& parts) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.rfind("error: ", 0), 0U) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << result.err << "lacks: " << part;
  }

  TempDir dir_;
};

}  // namespace chargpt
