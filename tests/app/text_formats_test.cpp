#include <set>

#include "app/support.hpp"

namespace chargpt {
namespace {

/// Texts of every kind, from the file to the model and back.
class TextFormats : public ProgramTest {
 protected:
  void train_on(const std::string& contents, std::vector<std::string> more) {
    dir_.write("data", contents);
    more.insert(more.end(), {"--data", "data", "--quiet"});
    const ProgramResult result = train("r", more);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  std::string sample(std::vector<std::string> more, const ProgramOptions& options = {}) const {
    more.insert(more.begin(), {"sample", "--run", "r", "--quiet"});
    const ProgramResult result = chargpt(more, options);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  Json json(std::vector<std::string> words) const {
    words.insert(words.end(), {"--json", "--quiet"});
    const ProgramResult result = chargpt(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return parse_json(result.out, {.source = "stdout"});
  }
};

TEST_F(TextFormats, BytesGoRoundByteForByte) {
  std::string bytes;
  for (int i = 0; i < 2000; ++i) bytes += static_cast<char>(i * i % 251 > 40 ? i * 7 : 0xFF);
  train_on(bytes, {"--set", "data.format=bytes"});
  dir_.write("prompt", std::string("\xEF\xBB\xBF\0\xFF\r\n", 7));
  const std::string text = sample({"--prompt-file", "prompt", "--length", "300", "--temperature", "2"});
  ASSERT_EQ(text.size(), 7U + 300U + 1U);  // the program ends a sample with a newline
  EXPECT_EQ(text.substr(0, 7), read_file(dir_ / "prompt"));
  std::set<char> seen(text.begin() + 7, text.end());
  EXPECT_GT(seen.size(), 50U);
  const Json model = json({"inspect", "r"});
  EXPECT_EQ(model["vocabulary_size"], 256);
  const Json score = json({"eval", "--run", "r", "--data", "data"});
  EXPECT_EQ(score["characters"], 1999);
  EXPECT_EQ(score["bytes"], 1999);
  EXPECT_EQ(score["bits_per_byte"], score["bits_per_char"]);
  const Json line = json({"sample", "--run", "r", "--prompt-file", "prompt", "--length", "5"});
  EXPECT_EQ(line["prompt"], "\u00EF\u00BB\u00BF" + std::string(1, '\0') + "\u00FF\r\n");
}

TEST_F(TextFormats, ALineIsADocument) {
  std::string names;
  for (int i = 0; i < 400; ++i) names += i % 2 == 0 ? "emma\r\n" : "anna\r\n";
  train_on(names, {"--set", "data.format=lines", "--set", "model.context=4", "--set", "train.steps=300", "--set",
                   "optimizer.learning_rate=0.01"});
  for (const std::string name : {"emma", "anna"}) {
    const Json line = json({"sample", "--run", "r", "--prompt", name.substr(0, 2), "--temperature", "0.2"});
    EXPECT_EQ(line["finish"], "end_mark");
    EXPECT_EQ(line["text"], name.substr(2));
  }
  dir_.write("other.txt", "emma\nanna\n");
  EXPECT_EQ(json({"eval", "--run", "r", "--data", "other.txt"})["characters"], 2 * 5);  // an end mark each
}

TEST_F(TextFormats, APromptForAModelOfLinesIsALinesBeginning) {
  std::string lines;
  for (int i = 0; i < 800; ++i) lines += "abac\n";  // behind the first a stands b, behind the other one c
  train_on(lines, {"--set", "data.format=lines", "--set", "model.context=8", "--set", "train.steps=300", "--set",
                   "optimizer.learning_rate=0.01"});
  EXPECT_EQ(sample({"--prompt", "a", "--temperature", "0"}), "abac\n");
  EXPECT_EQ(sample({"--prompt", "a", "--temperature", "0", "--engine", "torch"}), "abac\n");
  const Json line = json({"sample", "--run", "r", "--prompt", "a", "--temperature", "0"});
  EXPECT_EQ(line["prompt"], "a");  // without the mark
  EXPECT_EQ(line["text"], "bac");
  const std::string file = "r/checkpoints/step-00000300/model.safetensors";
  const auto alone = [&](const std::string& format) {
    return json({"sample", "--model", file, "--prompt", "a", "--set", "data.format=" + format})["log_probability"];
  };
  EXPECT_NE(alone("lines"), alone("text"));
}

TEST_F(TextFormats, ADecomposedPromptIsWhatTheTextWas) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "o\u0308l och fo\u0308r " + std::to_string(i % 7) + "\n";
  train_on(text, {"--set", "data.normalize=nfc"});
  const auto continued = [&](const std::string& prompt) {
    return sample({"--prompt", prompt, "--temperature", "0"}).substr(prompt.size());
  };
  EXPECT_EQ(continued("o\u0308l"), continued("\u00F6l"));
  EXPECT_EQ(json({"eval", "--run", "r", "--data", "data"})["unknown_characters"], 0);
}

TEST_F(TextFormats, AnotherEncodingIsNamedAndThenRead) {
  std::string text(7047, 'x');
  for (std::size_t i = 40; i < text.size(); i += 40) text[i] = '\n';
  dir_.write("data", text + "\x92s\n");
  expect_error(train("r", {"--data", "data", "--quiet"}), 65,
               {"data", "7047", "0x92", "data.encoding=WINDOWS-1252", "data.format=bytes"});
  EXPECT_FALSE(exists("r"));
  EXPECT_EQ(train("r", {"--data", "data", "--set", "data.encoding=WINDOWS-1252"}).code, 0);
}

TEST_F(TextFormats, SmallTextsWorkOrSayWhatWouldFit) {
  dir_.write("ten", "abcdefghij");
  expect_error(train("r", {"--data", "ten", "--quiet"}), 65, {"has 9 characters", "needs 17", "--set model.context=8"});
  const std::vector<std::string> all = {"--set", "data.val_fraction=0", "--quiet", "--data"};
  const auto with = [&](const std::string& file, const std::string& context) {
    auto words = all;
    words.insert(words.end(), {file, "--set", "model.context=" + context, "--overwrite"});
    return train("r", words);
  };
  EXPECT_EQ(with("ten", "9").code, 0);  // exactly one window
  expect_error(with("ten", "10"), 65, {"has 10 characters", "needs 11", "--set model.context=9"});
  dir_.write("same", std::string(100, 'a'));
  EXPECT_EQ(with("same", "16").code, 0);
  EXPECT_EQ(sample({"--length", "3"}), "aaa\n");
}

TEST_F(TextFormats, FoldersPatternsAndStandardInputAreData) {
  std::filesystem::create_directories(dir_ / "books");
  dir_.write("books/a.txt", plain_text());
  dir_.write("books/b.txt", plain_text());
  for (const std::string data : {"books", "books/*.txt", "{books/a.txt,books/b.txt}"}) {
    const ProgramResult result = train("r", {"--data", data, "--overwrite", "--json"});
    EXPECT_EQ(result.code, 0) << data << result.err;
  }
  const ProgramResult piped =
      chargpt({"train", "--config", "t.json", "--out", "p", "--data", "-"}, {.input = plain_text()});
  EXPECT_EQ(piped.code, 0) << piped.err;
  expect_error(train("q", {"--data", "nowhere/*.txt", "--quiet"}), 66, {"nowhere/*.txt", "pattern"});
}

TEST_F(TextFormats, TheUnknownMarkIsNeverWritten) {
  train_on(plain_text() + "\u00E9", {"--set", "data.min_count=2"});
  const std::string text = sample({"--length", "2000", "--temperature", "100"});
  EXPECT_EQ(text.find("<|u|>"), std::string::npos);
  EXPECT_EQ(json({"eval", "--run", "r", "--data", "data"})["unknown_characters"], 0);
}

}  // namespace
}  // namespace chargpt
