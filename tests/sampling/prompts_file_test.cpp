#include "chargpt/sampling/prompts_file.hpp"

#include <gtest/gtest.h>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

TEST(PromptsFile, ALineOverridesTheSettingsForItsPromptAlone) {
  SampleConfig settings;
  settings.top_k = 5;
  settings.seed = 9;
  const auto requests = read_prompts(
      "{\"prompt\": \"a\", \"temperature\": 0.5, \"stop\": [\"x\", \"y\"]}\n\n{\"prompt\": \"\", \"seed\": 3, "
      "\"stop\": \"z\"}",
      "p.jsonl", settings);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].settings.prompt, "a");
  EXPECT_EQ(requests[0].settings.temperature, 0.5);
  EXPECT_EQ(requests[0].settings.stop, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(requests[0].settings.top_k, 5);
  EXPECT_EQ(requests[0].settings.seed, 9);
  EXPECT_EQ(requests[1].settings.temperature, 1.0);
  EXPECT_EQ(requests[1].settings.seed, 3);
  EXPECT_EQ(requests[1].settings.stop, (std::vector<std::string>{"z"}));
  EXPECT_EQ(requests[1].source, "p.jsonl, line 3");
}

TEST(PromptsFile, ABadLineIsNamedWithKeyAndReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"prompt\": \"a\", \"temprature\": 1}", "sample.temperature"},
      {"{\"prompt\": \"a\", \"temperature\": -1}", "sample.temperature: got -1, wanted a number, 0 or more"},
      {"{\"prompt\": 7}", "sample.prompt: got 7"},
      {"{\"text\": \"a\"}", "an object without one"},
      {"\"a\"", "string"},
      {"{\"prompt\": \"a\"", "column"},
      {"{\"prompt\": \"a\", \"stop\": [\"\"]}", "sample.stop"},
      {"{\"prompt\": \"a\", \"prompt\": \"b\"}", "twice"},
      {"{\"prompt\": \"\xff\"}", "UTF-8"},
  };
  for (const auto& [line, part] : cases) {
    const std::string text = "{\"prompt\": \"fine\"}\n" + line + "\n";
    expect_error(ExitCode::bad_data, {"p.jsonl, line 2", part}, [&text = text] { read_prompts(text, "p.jsonl", {}); });
  }
}

TEST(PromptsFile, WithoutAPromptIsRefused) {
  expect_error(ExitCode::bad_data, {"p.jsonl", "no prompt"}, [] { read_prompts(" \n\n", "p.jsonl", {}); });
}

}  // namespace
}  // namespace chargpt
