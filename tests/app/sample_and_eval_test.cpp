#include <cmath>
#include <set>

#include "app/support.hpp"

namespace chargpt {
namespace {

class SampleAndEval : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(train("runs/r").code, 0); }

  ProgramResult sample(std::vector<std::string> more, ProgramOptions options = {}) {
    more.insert(more.begin(), {"sample", "--length", "60", "--quiet"});
    return chargpt(more, options);
  }
};

TEST_F(SampleAndEval, TheNewestRunIsTheDefaultAndIsNamed) {
  const ProgramResult result = chargpt({"sample", "--length", "5"});
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.err.find("runs/r"), std::string::npos);
}

TEST_F(SampleAndEval, TheSeedDecidesTheText) {
  const std::string seven = sample({"--seed", "7"}).out;
  EXPECT_EQ(seven, sample({"--seed", "7"}).out);
  EXPECT_NE(seven, sample({"--seed", "8"}).out);
}

TEST_F(SampleAndEval, SampleIIsWhatItsSeedGivesAlone) {
  const ProgramResult three = sample({"--seed", "5", "--samples", "3", "--json"});
  std::string alone;
  for (const std::string seed : {"5", "6", "7"}) alone += sample({"--seed", seed, "--json"}).out;
  EXPECT_EQ(three.out, alone);
}

TEST_F(SampleAndEval, BothEnginesWriteTheSameText) {
  const std::string native = sample({"--engine", "native", "--temperature", "0"}).out;
  EXPECT_EQ(native, sample({"--engine", "torch", "--temperature", "0"}).out);
  EXPECT_EQ(native, sample({"--temperature", "0"}).out);
  expect_error(sample({"--engine", "fast"}), 2, {"--engine", "fast", "native or torch"});
  expect_error(sample({"--engine", "native", "--device", "cuda"}), 2, {"--engine native", "cuda"});
}

TEST_F(SampleAndEval, ExactAndNotAreTheSameUpToTheContext) {
  const std::vector<std::string> words = {"--prompt", "t", "--temperature", "2"};
  std::vector<std::string> exactly = words;
  exactly.emplace_back("--exact");
  const std::string half = sample(words).out, exact = sample(exactly).out;
  EXPECT_EQ(half.substr(0, 16), exact.substr(0, 16));  // the context
  EXPECT_NE(half, exact);
}

TEST_F(SampleAndEval, TemperatureZeroIsTopKOne) {
  EXPECT_EQ(sample({"--temperature", "0"}).out, sample({"--top-k", "1"}).out);
}

TEST_F(SampleAndEval, ThePromptComesFromArgumentFileOrStdinAlike) {
  dir_.write("prompt.txt", "the cat\nsat");
  const std::string direct = sample({"--prompt", "the cat\nsat"}).out;
  EXPECT_EQ(direct.rfind("the cat\nsat", 0), 0U);
  EXPECT_EQ(direct, sample({"--prompt-file", "prompt.txt"}).out);
  EXPECT_EQ(direct, sample({"--prompt-file", "-"}, {.input = "the cat\nsat"}).out);
}

TEST_F(SampleAndEval, ThePromptMayComeThroughANamedPipeButNotWithoutEnd) {
  const auto shell = [&](const std::string& arguments) {
    return run_program({"/bin/bash", "-c", "\"$0\" sample --quiet --length 50 " + arguments, CHARGPT_PROGRAM},
                       {.folder = dir_.path()});
  };
  const std::string direct = shell("--prompt 'the cat'").out;
  EXPECT_EQ(direct.rfind("the cat", 0), 0U);
  for (const std::string file : {"--prompt-file <(printf 'the '; printf 'cat')", "--prompt-file /dev/stdin <<< the",
                                 "--prompts <(echo '{\"prompt\": \"the cat\"}')"}) {
    const ProgramResult result = shell(file);
    EXPECT_EQ(result.code, 0) << file << ": " << result.err;
    if (file.find("printf") != std::string::npos) {
      EXPECT_EQ(result.out, direct);
    }
  }
  for (const std::string endless : {"--prompt-file /dev/zero", "--prompt-file - < /dev/zero"}) {
    const bool standard = endless.find("- <") != std::string::npos;
    expect_error(shell(endless), 65, {standard ? "standard input" : "/dev/zero", "more than 67108864 bytes"});
  }
  expect_error(shell("--prompt-file runs"), 66, {"runs", "folder"});
}

TEST_F(SampleAndEval, AnEmptyPromptWorks) { EXPECT_EQ(sample({"--prompt", ""}).code, 0); }

TEST_F(SampleAndEval, ALongPromptIsCutWithAWarning) {
  const std::string prompt = plain_text().substr(0, 160);
  const ProgramResult result = sample({"--prompt", prompt});
  EXPECT_NE(result.err.find("160"), std::string::npos);
  EXPECT_EQ(result.out.substr(160), sample({"--prompt", prompt.substr(144)}).out.substr(16));
}

TEST_F(SampleAndEval, ReportsPromptsThatTheModelCannotRead) {
  expect_error(sample({"--prompt", "the é"}), 65, {"U+00E9", "4"});
  expect_error(sample({"--prompt", "\xff\xfe"}), 65, {"--prompt", "UTF-8", "0xFF"});
  dir_.write("utf16.txt", std::string("\xff\xfe\x41\x00", 4));
  expect_error(sample({"--prompt-file", "utf16.txt"}), 65, {"utf16.txt", "UTF-16"});
  expect_error(sample({"--prompt-file", "nowhere.txt"}), 66, {"nowhere.txt"});
}

TEST_F(SampleAndEval, AClosedPipeEndsQuietlyAndAFullDiskDoesNot) {
  const std::string quoted = std::string(CHARGPT_PROGRAM) + " sample --quiet --length 3000";
  const ProgramResult closed =
      run_program({"/bin/bash", "-c", quoted + " | head -c 5; exit ${PIPESTATUS[0]}"}, {.folder = dir_.path()});
  EXPECT_EQ(closed.code, 0);
  EXPECT_EQ(closed.err, "");
  const ProgramResult full = run_program({"/bin/bash", "-c", quoted + " > /dev/full"}, {.folder = dir_.path()});
  EXPECT_EQ(full.code, 74);
}

TEST_F(SampleAndEval, SoDoesOneOfAnyOtherCommand) {
  for (const char* words : {"--help", "--version", "config show", "config schema", "inspect runs/r --json",
                            "explain --run runs/r --text the", "metrics plot runs/r", "data stats --data d.txt"}) {
    const std::string to_nobody = "exec 3> >(:); wait $!; " + std::string(CHARGPT_PROGRAM) + " " + words + " >&3";
    const ProgramResult result = run_program({"/bin/bash", "-c", to_nobody}, {.folder = dir_.path()});
    EXPECT_EQ(result.code, 0) << words << ": " << result.err;
  }
}

TEST_F(SampleAndEval, TheLocaleDoesNotChangeTheBytes) {
  dir_.write("poem.txt", [] {
    std::string text;
    for (int i = 0; i < 300; ++i) text += "床前明月光 ö 😀 " + std::to_string(i) + "\n";
    return text;
  }());
  ASSERT_EQ(train("poems", {"--data", "poem.txt"}).code, 0);
  const std::string utf8 = sample({"--run", "poems"}, {.environment = {"LC_ALL=C.UTF-8"}}).out;
  EXPECT_EQ(utf8, sample({"--run", "poems"}, {.environment = {"LC_ALL=C", "LANG=C"}}).out);
}

TEST_F(SampleAndEval, StopsAtTheEndMarkOfADocumentModel) {
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += "{\"text\": \"ab\"}\n";
  dir_.write("ab.jsonl", lines);
  ASSERT_EQ(train("ab", {"--data", "ab.jsonl", "--set", "model.context=2", "--set", "train.steps=300", "--set",
                         "optimizer.learning_rate=0.01"})
                .code,
            0);
  const Json line =
      parse_json(sample({"--run", "ab", "--prompt", "a", "--temperature", "0", "--json"}).out, {"stdout"});
  EXPECT_EQ(line["text"], "b");
  EXPECT_EQ(line["finish"], "end_mark");
}

TEST_F(SampleAndEval, EvalPrintsTheNumberThatTrainingPrinted) {
  const ProgramResult trained = train("again", {"--json"});
  const double last = parse_json(trained.out, {"stdout"})["last_loss"].get<double>();
  const Json json = parse_json(chargpt({"eval", "--run", "again", "--checkpoint", "last", "--json"}).out, {"stdout"});
  EXPECT_NEAR(json["nats_per_char"].get<double>(), last, 1e-6);
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp(last), 1e-5);
  EXPECT_EQ(json["step"], 50);
  EXPECT_EQ(json["mode"], "windows");
  EXPECT_EQ(json["unknown_characters"], 0);
}

TEST_F(SampleAndEval, EvalCountsWhatTheModelDoesNotKnow) {
  dir_.write("other.txt", "the cat é sat é\n");
  const ProgramResult result = chargpt({"eval", "--data", "other.txt", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = parse_json(result.out, {"stdout"});
  EXPECT_EQ(json["unknown_characters"], 2);
  EXPECT_EQ(json["characters"], 13);
  EXPECT_NE(result.err.find("U+00E9"), std::string::npos);
}

TEST_F(SampleAndEval, ARunACheckpointAndALoneFileGiveTheSameText) {
  std::filesystem::copy_file(dir_ / "runs/r/checkpoints/step-00000050/model.safetensors", dir_ / "lone.safetensors");
  std::filesystem::rename(dir_ / "runs", dir_ / "moved");
  const std::string text = sample({"--run", "moved/r", "--checkpoint", "50"}).out;
  EXPECT_EQ(text, sample({"--run", "moved/r/checkpoints/step-00000050"}).out);
  EXPECT_EQ(text, sample({"--model", "lone.safetensors"}).out);
  EXPECT_EQ(chargpt({"eval", "--model", "lone.safetensors", "--data", "d.txt"}).code, 0);
  expect_error(chargpt({"eval", "--model", "lone.safetensors"}), 2, {"--data"});
}

TEST_F(SampleAndEval, SaysWhatIsWrongWithTheModelThatWasNamed) {
  expect_error(sample({"--run", "nowhere"}), 66, {"nowhere"});
  expect_error(sample({"--model", "nowhere.safetensors"}), 66, {"nowhere.safetensors"});
  expect_error(sample({"--model", "d.txt"}), 78, {"d.txt"});
  expect_error(sample({"--run", "runs/r", "--checkpoint", "7"}), 66, {"step 7", "50"});
  expect_error(sample({"--run", "runs/r", "--checkpoint", "bset"}), 2, {"bset", "best"});
  expect_error(sample({"--run", "runs/r", "--model", "x"}), 2, {"--run", "--model"});
}

TEST_F(SampleAndEval, SampledTextIsMadeOfTheTextsCharacters) {
  const std::string known = plain_text();
  const std::string text = sample({"--length", "2000", "--temperature", "5"}).out;
  for (const char c : text) EXPECT_NE(known.find(c), std::string::npos) << static_cast<int>(c);
}

TEST_F(SampleAndEval, BenchReportsSpeeds) {
  const ProgramResult result = chargpt({"bench", "--config", "t.json", "--seconds", "0.1", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = parse_json(result.out, {"stdout"});
  for (const std::string key : {"training_chars_per_second", "sampling_chars_per_second", "matrix_product_gflops",
                                "fma_peak_gflops", "peak_rss_mib"}) {
    EXPECT_GT(json[key].get<double>(), 0.0) << key;
  }
  EXPECT_NEAR(json["share_of_fma_peak"].get<double>() * json["fma_peak_gflops"].get<double>(),
              json["training_gflops"].get<double>(), 1e-9 * json["training_gflops"].get<double>());
}

TEST_F(SampleAndEval, BenchTakesCharactersThatItsTextLacks) {
  const ProgramResult result =
      chargpt({"bench", "--config", "t.json", "--seconds", "0.1", "--only", "sampling", "--set",
               R"(sample.stop=["\n\n"])", "--set", "sample.ban= ", "--set", "sample.unknown=replace= "});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(SampleAndEval, BenchMeasuresOnePartOnly) {
  const auto keys = [&](const std::string& part) {
    const ProgramResult result = chargpt({"bench", "--config", "t.json", "--seconds", "0.1", "--only", part, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return parse_json(result.out, {"stdout"});
  };
  EXPECT_FALSE(keys("training").contains("sampling_chars_per_second"));
  EXPECT_FALSE(keys("sampling").contains("training_chars_per_second"));
  expect_error(chargpt({"bench", "--config", "t.json", "--only", "speed"}), 2, {"--only", "speed", "sampling"});
}

}  // namespace
}  // namespace chargpt
