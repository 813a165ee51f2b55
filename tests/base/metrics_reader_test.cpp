#include "chargpt/base/metrics_reader.hpp"

#include <gtest/gtest.h>

#include "chargpt/base/metrics_csv.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

const std::string kRecords =
    R"({"v":1,"event":"step","step":1,"loss":4.0,"learning_rate":0.1,"gradient_norm":2.0,"seconds":0.5})"
    "\n"
    R"({"v":1,"event":"step","step":2,"loss":null,"learning_rate":0.1,"gradient_norm":null,"seconds":0.25,"skipped":true})"
    "\n"
    R"({"v":1,"event":"step","step":3,"loss":3.0,"learning_rate":0.1,"gradient_norm":1.0,"seconds":0.25})"
    "\n"
    R"({"v":1,"event":"evaluation","step":3,"nats_per_char":3.5,"characters":17})"
    "\n"
    R"({"v":1,"event":"sample","step":3,"text":"so, \"he\"\nsaid","prompt":"so"})"
    "\n";

TEST(MetricsReader, ReadsWhatATrainingWrites) {
  const TempDir dir;
  const RunMetrics metrics = read_metrics(dir.write("m", kRecords));
  ASSERT_EQ(metrics.steps.size(), 3U);
  EXPECT_EQ(metrics.steps[0].loss, 4.0);
  EXPECT_EQ(metrics.steps[0].seconds, 0.5);
  EXPECT_FALSE(metrics.steps[1].loss);
  EXPECT_TRUE(metrics.steps[1].skipped);
  ASSERT_EQ(metrics.evaluations.size(), 1U);
  EXPECT_EQ(metrics.evaluations[0].nats_per_char, 3.5);
  ASSERT_EQ(metrics.samples.size(), 1U);
  EXPECT_EQ(metrics.samples[0].text, "so, \"he\"\nsaid");
  EXPECT_EQ(metrics.samples[0].prompt, "so");
  EXPECT_EQ(metrics.foreign.count, 0);
  EXPECT_FALSE(metrics.end);
}

TEST(MetricsReader, TheLastEndCounts) {
  const TempDir dir;
  const std::string end = "{\"v\":1,\"event\":\"end\",\"step\":3,\"stopped\":";
  const auto last = read_metrics(dir.write("m", kRecords + end + "\"patience\"}\n")).end;
  ASSERT_TRUE(last);
  EXPECT_EQ(last->step, 3);
  EXPECT_EQ(last->stopped, "patience");
  EXPECT_EQ(read_metrics(dir.write("m", kRecords + end + "\"patience\"}\n" + end + "null}\n")).end->stopped, "");
}

TEST(MetricsReader, ReadsWhatIsWholeWhereverAKillCutTheFile) {
  const TempDir dir;
  std::size_t records = 0;
  for (std::size_t length = 0; length <= kRecords.size(); ++length) {
    if (length > 0 && kRecords[length - 1] == '\n') ++records;
    const RunMetrics metrics = read_metrics(dir.write("m", kRecords.substr(0, length)));
    EXPECT_EQ(metrics.steps.size() + metrics.evaluations.size() + metrics.samples.size(), records) << length;
    EXPECT_EQ(metrics.foreign.count, 0) << length;
  }
}

TEST(MetricsReader, CountsLinesThatAreNoRecordsAndReadsOn) {
  const TempDir dir;
  const std::string text = "{\"v\":1,\"event\":\"step\",\"st\n\n[1]\n{\"event\":3}\n" + kRecords;
  const RunMetrics metrics = read_metrics(dir.write("m", "{\"v\":1,\"event\":\"later\",\"step\":1}\n" + text));
  EXPECT_EQ(metrics.steps.size(), 3U);
  EXPECT_EQ(metrics.foreign.count, 4);
  EXPECT_EQ(metrics.foreign.first, 2);
}

TEST(MetricsReader, TakesNoMembersOfAWrongKind) {
  const TempDir dir;
  const RunMetrics metrics = read_metrics(dir.write("m",
                                                    R"({"v":1,"event":"step","step":"x","loss":1}
{"v":1,"event":"step","step":1,"loss":"1","seconds":[]}
{"v":1,"event":"sample","step":1,"text":7}
{"v":1,"event":"evaluation","step":1}
)"));
  ASSERT_EQ(metrics.steps.size(), 1U);
  EXPECT_FALSE(metrics.steps[0].loss);
  EXPECT_TRUE(metrics.samples.empty());
  EXPECT_TRUE(metrics.evaluations.empty());
}

TEST(MetricsReader, RefusesANewerVersionAndAMissingFile) {
  const TempDir dir;
  dir.write("m", kRecords + "{\"v\":2,\"event\":\"step\"}\n");
  expect_error(ExitCode::bad_data, {"m, line 6", "version 2"}, [&] { read_metrics(dir / "m"); });
  expect_error(ExitCode::no_input, {"none"}, [&] { read_metrics(dir / "none"); });
}

TEST(MetricsFollower, ReadsEachRecordOnceAsTheFileGrows) {
  const TempDir dir;
  MetricsFollower follower(dir / "m");
  EXPECT_TRUE(follower.read().metrics.steps.empty());  // there is no file yet
  RunMetrics all;
  for (std::size_t length = 0; length <= kRecords.size(); ++length) {
    dir.write("m", kRecords.substr(0, length));
    const MetricsFollower::News news = follower.read();
    EXPECT_FALSE(news.anew);
    EXPECT_EQ(news.metrics.foreign.count, 0);
    all.steps.insert(all.steps.end(), news.metrics.steps.begin(), news.metrics.steps.end());
    all.evaluations.insert(all.evaluations.end(), news.metrics.evaluations.begin(), news.metrics.evaluations.end());
  }
  ASSERT_EQ(all.steps.size(), 3U);
  EXPECT_EQ(all.steps[2].step, 3);
  EXPECT_EQ(all.evaluations.size(), 1U);
}

TEST(MetricsFollower, AFileThatWasCutIsReadAnew) {
  const TempDir dir;
  MetricsFollower follower(dir.write("m", kRecords));
  follower.read();
  dir.write("m", kRecords.substr(0, kRecords.find('\n') + 1));
  const MetricsFollower::News news = follower.read();
  EXPECT_TRUE(news.anew);
  ASSERT_EQ(news.metrics.steps.size(), 1U);
  EXPECT_EQ(news.metrics.steps[0].step, 1);
  EXPECT_FALSE(follower.read().anew);
}

TEST(MetricsReader, SmoothsLikeAMeanAtFirstAndLeavesOutWhatWasSkipped) {
  std::vector<StepMetrics> steps(4);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].step = static_cast<std::int64_t>(i) + 1;
    steps[i].loss = static_cast<double>(i + 1);
  }
  steps[2].skipped = true;
  const auto losses = smoothed_losses(steps);
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_EQ(losses[1], (std::pair<std::int64_t, double>(2, 1.5)));
  EXPECT_EQ(losses[2].first, 4);
  EXPECT_DOUBLE_EQ(losses[2].second, 7.0 / 3);
}

TEST(MetricsReader, SmoothsWithTwoPerCentLater) {
  std::vector<StepMetrics> steps(200);
  for (StepMetrics& step : steps) step.loss = 1.0;
  steps.back().loss = 2.0;
  EXPECT_DOUBLE_EQ(smoothed_losses(steps).back().second, 1.02);
}

TEST(MetricsCsv, HasAColumnForEachMemberAndQuotesWhatMustBe) {
  const TempDir dir;
  const MetricsCsv csv = metrics_csv(dir.write("m", kRecords));
  EXPECT_EQ(csv.records, 5);
  EXPECT_EQ(csv.text,
            "v,event,step,loss,learning_rate,gradient_norm,seconds,skipped,nats_per_char,characters,text,prompt\n"
            "1,step,1,4.0,0.1,2.0,0.5,,,,,\n"
            "1,step,2,,0.1,,0.25,true,,,,\n"
            "1,step,3,3.0,0.1,1.0,0.25,,,,,\n"
            "1,evaluation,3,,,,,,3.5,17,,\n"
            "1,sample,3,,,,,,,,\"so, \"\"he\"\"\nsaid\",so\n");
}

}  // namespace
}  // namespace chargpt
