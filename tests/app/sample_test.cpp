#include <sstream>

#include "app/support.hpp"
#include "support/terminal.hpp"

namespace chargpt {
namespace {

class Sample : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(train("runs/r").code, 0); }

  ProgramResult sample(std::vector<std::string> more, ProgramOptions options = {}) {
    more.insert(more.begin(), {"sample", "--quiet"});
    return chargpt(more, options);
  }

  static std::vector<Json> json_lines(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(parse_json(line, {.source = "stdout"}));
    return lines;
  }
};

TEST_F(Sample, PromptsOfAFileAreContinuedLikeEachAlone) {
  dir_.write("p.jsonl",
             "{\"prompt\": \"the cat\", \"seed\": 4, \"samples\": 2}\n"
             "{\"prompt\": \"\", \"length\": 7}\n"
             "{\"prompt\": \"ROMEO: the cat sat on mat\", \"temperature\": 0.5, \"stop\": [\"a\"]}\n");
  const ProgramResult all = sample({"--prompts", "p.jsonl", "--length", "40"});
  ASSERT_EQ(all.code, 0) << all.err;
  std::string alone;
  for (const std::string seed : {"4", "5"}) {
    alone += sample({"--json", "--prompt", "the cat", "--length", "40", "--seed", seed}).out;
  }
  alone += sample({"--json", "--prompt", "", "--length", "7"}).out;
  alone += sample({"--json", "--prompt", "ROMEO: the cat sat on mat", "--length", "40", "--temperature", "0.5",
                   "--stop", "a"})
               .out;
  EXPECT_EQ(all.out, alone);
  EXPECT_EQ(sample({"--prompts", "-", "--length", "40"}, {.input = read_file(dir_ / "p.jsonl")}).out, alone);
}

TEST_F(Sample, ABadLineOfPromptsIsRefusedBeforeAnythingIsWritten) {
  dir_.write("p.jsonl", "{\"prompt\": \"the\"}\n{\"prompt\": \"the\", \"topk\": 3}\n");
  expect_error(sample({"--prompts", "p.jsonl"}), 65, {"p.jsonl, line 2", "topk", "sample.top_k"});
  dir_.write("p.jsonl", "{\"prompt\": \"the\"}\n{\"prompt\": \"\u00e9\"}\n");
  expect_error(sample({"--prompts", "p.jsonl"}), 65, {"p.jsonl, line 2", "U+00E9"});
}

TEST_F(Sample, StopsBeforeTheStopText) {
  const std::string whole = sample({"--temperature", "0", "--prompt", "the"}).out;
  const std::string stop = whole.substr(20, 4);
  const auto line =
      json_lines(sample({"--temperature", "0", "--prompt", "the", "--stop", "[x,y]", "--stop", stop, "--json"}).out);
  ASSERT_EQ(line.size(), 1U);
  EXPECT_EQ(line[0]["finish"], "stop");
  EXPECT_EQ("the" + line[0]["text"].get<std::string>(), whole.substr(0, whole.find(stop, 3)));
  expect_error(sample({"--stop", ""}), 2, {"sample.stop"});
  expect_error(sample({"--stop", "\xff"}), 65, {"--stop", "UTF-8"});
}

TEST_F(Sample, UnknownPromptCharactersAreAnErrorLeftOutOrReplaced) {
  expect_error(sample({"--prompt", "th\u00e9"}), 65, {"U+00E9", "position 2", "U+0065 'e'", "--unknown"});
  const ProgramResult replaced = sample({"--prompt", "th\u00e9", "--unknown", "replace=e", "--json"});
  EXPECT_NE(replaced.err.find("replaced by U+0065"), std::string::npos) << replaced.err;
  EXPECT_EQ(json_lines(replaced.out)[0]["text"], json_lines(sample({"--prompt", "the", "--json"}).out)[0]["text"]);
  const ProgramResult skipped = sample({"--prompt", "th\u00e9", "--unknown", "skip", "--json"});
  EXPECT_NE(skipped.err.find("left out"), std::string::npos) << skipped.err;
  EXPECT_EQ(json_lines(skipped.out)[0]["text"], json_lines(sample({"--prompt", "th", "--json"}).out)[0]["text"]);
  expect_error(sample({"--unknown", "maybe"}), 2, {"maybe", "replace=X"});
}

TEST_F(Sample, BannedCharactersNeverComeAndOnlyAllowedOnesDo) {
  EXPECT_EQ(sample({"--ban", "e\n", "--temperature", "3"}).out.find('e'), std::string::npos);
  const std::string text = sample({"--allow", "at", "--temperature", "3", "--length", "100"}).out;
  EXPECT_EQ(text.find_first_not_of("at\n"), std::string::npos) << text;
  expect_error(sample({"--allow", "a", "--ban", "a"}), 2, {"sample.allow", "sample.ban"});
}

TEST_F(Sample, WhatContradictsItselfIsRefused) {
  expect_error(sample({"--prompt", "a", "--interactive"}), 2, {"--prompt", "--interactive"});
  expect_error(sample({"--prompt-file", "d.txt", "--prompts", "d.txt"}), 2, {"--prompt-file", "--prompts"});
  expect_error(sample({"--length", "5", "--until-end-mark"}), 2, {"--length", "--until-end-mark"});
  expect_error(sample({"--until-end-mark"}), 2, {"end mark"});
}

TEST_F(Sample, KeysWithoutEffectAreRefused) {
  expect_error(sample({"--set", "model.width=64"}), 2, {"model.width", "sample"});
  expect_error(sample({"--set", "train.steps=5"}), 2, {"train.steps"});
  expect_error(sample({"--set", "sample.temprature=5"}), 2, {"sample.temperature"});
  EXPECT_EQ(sample({"--set", "sample.length=5"}).code, 0);
  expect_error(chargpt({"eval", "--quiet", "--set", "optimizer.clip=1"}), 2, {"optimizer.clip", "eval"});
}

TEST_F(Sample, AFolderIsNoModelAndAFileNoRun) {
  expect_error(sample({"--model", "runs/r"}), 2, {"--model runs/r", "--run runs/r"});
  const std::string file = "runs/r/checkpoints/step-00000050/model.safetensors";
  expect_error(sample({"--run", file}), 2, {"--run " + file, "--model " + file});
}

TEST_F(Sample, AModelThatWasTrainedOnCudaSamplesOnACpu) {
  const std::string text = sample({"--temperature", "0"}).out;
  Json config = parse_json(read_file(dir_ / "runs/r/config.json"), {.source = "config.json"});
  config["run"]["device"] = "cuda:1";
  dir_.write("runs/r/config.json", config.dump());
  EXPECT_EQ(sample({"--temperature", "0"}).out, text);
}

TEST_F(Sample, AConversationThroughAPipe) {
  const ProgramResult talk = sample({"--interactive", "--length", "10", "--temperature", "0"},
                                    {.input = "the\n/length 3\nthe\n/lenght 4\n\u00e9\n"});
  EXPECT_EQ(talk.code, 0);
  const std::string text = sample({"--prompt", "the", "--length", "10", "--temperature", "0"}).out.substr(3);
  EXPECT_EQ(talk.out, text + text.substr(0, 3) + "\n");
  EXPECT_NE(talk.err.find("sample.length"), std::string::npos) << talk.err;
  EXPECT_NE(talk.err.find("U+00E9"), std::string::npos) << talk.err;
}

TEST_F(Sample, InAConversationCtrlCStopsTheTextAndCtrlDEnds) {
  Terminal terminal({CHARGPT_PROGRAM, "sample", "--run", "runs/r", "--interactive", "--length", "1000000000"},
                    dir_.path());
  ASSERT_TRUE(terminal.wait_for("> "));
  terminal.type("the\n");
  ASSERT_TRUE(terminal.read_more(2000));  // it writes and would go on for hours
  terminal.type("\x03");
  ASSERT_TRUE(terminal.wait_for("> ")) << terminal.shown();
  terminal.type("/length 3\n");
  ASSERT_TRUE(terminal.wait_for("> "));
  terminal.type("the\n");
  ASSERT_TRUE(terminal.wait_for("> "));
  terminal.type("\x04");
  EXPECT_EQ(terminal.finish(), 0) << terminal.shown();
}

}  // namespace
}  // namespace chargpt
