#include "chargpt/base/run_history.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "chargpt/base/report_data.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// A run of `steps` steps whose training loss falls by 0.01 a step from 3, evaluated to `validation` every 10 steps.
RunHistory some_run(int steps, const std::vector<double>& validation) {
  RunHistory run;
  run.name = "runs/a";
  run.config = {{"train", {{"steps", 40}, {"batch", 4}}}, {"model", {{"context", 8}}}};
  for (int i = 1; i <= steps; ++i) run.metrics.steps.push_back({i, 3 - 0.01 * i, 1e-3, 0.5, 0.5, false});
  for (std::size_t i = 0; i < validation.size(); ++i) {
    run.metrics.evaluations.push_back({10 * (static_cast<std::int64_t>(i) + 1), validation[i]});
  }
  return run;
}

std::string all_words(const RunHistory& run) {
  std::string text;
  for (const std::string& sentence : in_words(summarize(run))) text += sentence + "\n";
  return text;
}

TEST(FindRuns, FindsRunsBelowAFolderInOrderAndNothingInThem) {
  const TempDir dir;
  for (const std::string name : {"b", "a", "deep/er/c", "a/checkpoints", "deep/er/too/far/d"}) {
    fs::create_directories(dir / name);
  }
  for (const std::string name : {"b", "a", "deep/er/c", "deep/er/too/far/d"}) dir.write(name + "/metrics.jsonl", "");
  dir.write("a/checkpoints/config.json", "{}");
  EXPECT_EQ(find_runs(dir.path()), (std::vector<std::string>{dir / "a", dir / "b", dir / "deep/er/c"}));
  EXPECT_EQ(find_runs(dir / "a"), std::vector<std::string>{dir / "a"});
  expect_error(ExitCode::no_input, {"none", "no such folder"}, [&] { find_runs(dir / "none"); });
  fs::create_directory(dir / "empty");
  expect_error(ExitCode::no_input, {"empty is no run folder"}, [&] { find_runs(dir / "empty"); });
}

TEST(ReadRun, TellsWhatItCouldNotUse) {
  const TempDir dir;
  dir.write("metrics.jsonl", "nonsense\n{\"v\":1,\"event\":\"step\",\"step\":1,\"loss\":2}\n");
  dir.write("config.json", "[");
  const RunHistory run = read_run(dir.path());
  EXPECT_EQ(run.metrics.steps.size(), 1U);
  ASSERT_EQ(run.notes.size(), 2U);
  EXPECT_NE(run.notes[0].find("config.json"), std::string::npos);
  EXPECT_NE(run.notes[1].find("1 lines that are no records"), std::string::npos);
  EXPECT_TRUE(run.config.is_null());
  EXPECT_TRUE(run.key("train", "steps").is_null());
}

TEST(Summary, IsThatOfTheRecords) {
  const RunSummary summary = summarize(some_run(40, {2.9, 2.5, 2.6, 2.502}));
  EXPECT_EQ(summary.steps, 40);
  EXPECT_EQ(summary.planned, 40);
  EXPECT_EQ(summary.best, 2.5);
  EXPECT_EQ(summary.best_step, 20);
  EXPECT_EQ(summary.validation, 2.502);
  EXPECT_FALSE(summary.overfitting_from);  // 0.08 % is noise
  EXPECT_DOUBLE_EQ(summary.seconds, 20.0);
  EXPECT_DOUBLE_EQ(*summary.chars_per_second, 64.0);
  EXPECT_DOUBLE_EQ(to_json(summary)["bits_per_char"].get<double>(), 2.5 / 0.69314718055994531);
}

TEST(Summary, SaysWhenOverfittingBegan) {
  RunHistory run = some_run(40, {2.9, 2.5, 2.6, 2.7});
  EXPECT_EQ(summarize(run).overfitting_from, 20);
  EXPECT_NE(all_words(run).find("Overfitting from step 20: since then the validation loss has risen by 8.0 %"),
            std::string::npos)
      << all_words(run);
  for (StepMetrics& step : run.metrics.steps) step.loss = 3 + 0.01 * static_cast<double>(step.step);
  EXPECT_FALSE(summarize(run).overfitting_from);  // both rise: that is divergence, not overfitting
}

TEST(Summary, SaysHowItEndedAndWhatWasSkipped) {
  EXPECT_NE(all_words(some_run(40, {})).find("All 40 steps were done."), std::string::npos);
  EXPECT_NE(all_words(some_run(40, {})).find("There was no validation."), std::string::npos);
  RunHistory run = some_run(30, {});
  run.metrics.steps[4].skipped = true;
  EXPECT_NE(all_words(run).find("1 steps were skipped"), std::string::npos);
  EXPECT_NE(all_words(run).find("30 of 40 steps were done: the run was killed"), std::string::npos);
  for (const auto& [stopped, words] :
       {std::pair{"interrupted", "interrupted, its state saved."},
        std::pair{"target_loss", "had reached train.target_loss."}, std::pair{"patience", "no new best."},
        std::pair{"diverged", "30 of 40 steps were done; then a loss or gradient was not finite"},
        std::pair{"flood", "then it was stopped: flood."}}) {
    run.metrics.end = EndMetrics{30, stopped};
    EXPECT_NE(all_words(run).find(words), std::string::npos) << all_words(run);
  }
  run.metrics.end = EndMetrics{20, "patience"};  // and a resume has gone on
  EXPECT_NE(all_words(run).find("killed, or is still going on."), std::string::npos);
  EXPECT_FALSE(in_words(summarize(RunHistory{})).empty());
  run = some_run(40, {});
  run.metrics.end = EndMetrics{40, "diverged"};
  EXPECT_NE(all_words(run).find("diverged."), std::string::npos) << all_words(run);
}

TEST(Charts, AreOfOneRunOrOfAll) {
  const RunHistory run = some_run(40, {2.9, 2.5});
  const auto one = charts_of({run});
  ASSERT_EQ(one.size(), 2U);
  EXPECT_EQ(one[0].series.size(), 2U);
  EXPECT_EQ(one[0].series[1].points.size(), 2U);
  const auto several = charts_of({run, some_run(20, {}), run});
  ASSERT_EQ(several.size(), 3U);
  EXPECT_EQ(several[0].series.size(), 3U);
  EXPECT_EQ(several[1].series.size(), 2U);  // one has no validation
  EXPECT_EQ(charts_of({some_run(40, {})}).size(), 2U);
}

TEST(ReportData, ThinsCurvesAndKeepsTheirLastPoints) {
  const RunHistory run = some_run(10'000, {2.9, 2.5});
  const Json data = report_data({run});
  for (const char* curve : {"training", "learning_rate", "gradient_norm", "chars_per_second"}) {
    const Json& points = data["runs"][0][curve];
    EXPECT_LE(points[0].size(), 601U) << curve;
    EXPECT_GE(points[0].size(), 300U) << curve;
    EXPECT_EQ(points[0].size(), points[1].size());
    EXPECT_EQ(points[0].back(), 10'000) << curve;
  }
  EXPECT_EQ(data["runs"][0]["validation"], Json::parse("[[10, 20], [2.9, 2.5]]"));
  EXPECT_EQ(data["runs"][0]["gradient_norm"][1][7], 0.5);
}

TEST(ReportData, NamesTheKeysThatVary) {
  RunHistory a = some_run(1, {}), b = some_run(1, {});
  b.config["model"]["context"] = 16;
  b.config["optimizer"] = {{"clip", 1}};
  EXPECT_EQ(report_data({a, b})["varied"], Json::parse(R"(["model.context", "optimizer.clip"])"));
  EXPECT_EQ(report_data({a, a})["varied"], Json::array());
}

TEST(ReportData, ThinsSamplesByStepSoThatEveryPromptIsThere) {
  RunHistory run = some_run(1, {});
  for (int i = 0; i < 100; ++i) {
    for (const char* prompt : {"a", "b", "c"}) run.metrics.samples.push_back({i, std::string(prompt) + "!", prompt});
  }
  const Json samples = report_data({run})["runs"][0]["samples"];
  EXPECT_LE(samples.size(), 42U);
  ASSERT_EQ(samples.size() % 3, 0U);
  for (std::size_t i = 0; i < samples.size(); i += 3) {
    EXPECT_EQ(samples[i]["step"], samples[i + 2]["step"]);
    for (const std::size_t k : {0U, 1U, 2U}) EXPECT_EQ(samples[i + k]["prompt"], std::string(1, "abc"[k]));
  }
  std::erase_if(run.metrics.samples, [](const SampleMetrics& sample) { return sample.prompt != "a"; });
  EXPECT_EQ(report_data({run})["runs"][0]["samples"][0]["prompt"], "");
}

TEST(ReportData, CutsSamplesBetweenCharacters) {
  std::vector<RunHistory> runs(10, some_run(1, {}));
  std::string text;
  while (text.size() < 3000) text += "中";
  for (int i = 0; i < 100; ++i) runs[0].metrics.samples.push_back({i, text, ""});
  const Json samples = report_data(runs)["runs"][0]["samples"];
  EXPECT_LE(samples.size(), 5U);
  EXPECT_EQ(samples.back()["step"], 99);
  EXPECT_NO_THROW(to_json_line(samples));
  EXPECT_LT(samples[0]["text"].get<std::string>().size(), 1010U);
}

}  // namespace
}  // namespace chargpt
