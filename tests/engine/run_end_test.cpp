// What ends a run before its last step, and what it says then.

#include <algorithm>

#include "engine/run_support.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

class RunEndTest : public TrainingRunTest {
 protected:
  RunEndTest() {
    config_.train.eval_first = false;
    config_.train.eval_every = 1;
    config_.train.sample_every = config_.train.save_every = 0;
    config_.train.steps = 60;
  }

  std::vector<double> losses(const std::string& folder, const RunResult& result) {
    std::vector<double> all;
    for (const Json& record : outcome(folder, result).records) {
      if (record["event"] == "evaluation") all.push_back(record["nats_per_char"].get<double>());
    }
    return all;
  }
};

TEST_F(RunEndTest, AtTheFirstEvaluationThatReachesTheTarget) {
  config_.train.target_loss = 2.9;
  const RunResult result = run(dir_ / "r");
  EXPECT_EQ(result.end, RunEnd::target_loss);
  ASSERT_LT(result.step, 60);
  const auto seen = losses(dir_ / "r", result);
  ASSERT_EQ(static_cast<std::int64_t>(seen.size()), result.step);
  EXPECT_LE(seen.back(), 2.9);
  for (std::size_t i = 0; i + 1 < seen.size(); ++i) EXPECT_GT(seen[i], 2.9);
  EXPECT_EQ(read_best(RunPaths(dir_ / "r").checkpoints()), result.step);
}

TEST_F(RunEndTest, AfterSoManyEvaluationsWithoutANewBest) {
  config_.optimizer.learning_rate = 1.0;
  config_.train.patience = 3;
  const RunResult result = run(dir_ / "r");
  EXPECT_EQ(result.end, RunEnd::patience);
  ASSERT_LT(result.step, 60);
  const auto seen = losses(dir_ / "r", result);
  const auto best = std::min_element(seen.begin(), seen.end());
  EXPECT_EQ(seen.end() - best, 4) << "the best one and three behind it";
  EXPECT_EQ(read_best(RunPaths(dir_ / "r").checkpoints()), best - seen.begin() + 1);
}

TEST_F(RunEndTest, IsTheSameWhenItIsResumedAndGoesOnWithMorePatience) {
  config_.optimizer.learning_rate = 1.0;
  config_.train.patience = 3;
  const RunResult ended = run(dir_ / "r");
  const RunResult again = run(dir_ / "r");
  EXPECT_EQ(again.end, RunEnd::patience);
  EXPECT_EQ(again.step, ended.step);
  config_.train.patience = 5;
  EXPECT_GT(run(dir_ / "r").step, ended.step);
}

TEST_F(RunEndTest, IsTheLastRecordAndStandsOnce) {
  config_.train.steps = 5;
  run(dir_ / "r", 3);
  const std::string folder = dir_ / "r";
  const Outcome interrupted = outcome(folder, {});
  EXPECT_EQ(interrupted.records.back()["stopped"], "interrupted");
  const Outcome all = outcome(folder, run(folder));
  EXPECT_EQ(all.records.back(), (Json{{"v", 1}, {"event", "end"}, {"step", 5}, {"stopped", nullptr}}));
  const auto is_end = [](const Json& record) { return record["event"] == "end"; };
  EXPECT_EQ(std::count_if(all.records.begin(), all.records.end(), is_end), 1);
}

/// What a test of the exact training takes away: acts by the clock.
TEST_F(RunEndTest, ActsByTheClockLeaveTheTrainingAsItIs) {
  config_.train.steps = 12;
  const Outcome without = outcome(dir_ / "a", run(dir_ / "a"));
  config_.train.eval_every = config_.train.save_every = {1, IntervalUnit::seconds};
  const Outcome with = outcome(dir_ / "b", run(dir_ / "b"));
  EXPECT_TRUE(with.tensors[0].equal(without.tensors[0]));
}

TEST_F(RunEndTest, AnotherOptimizersStateIsRefusedWithBothNames) {
  run(dir_ / "r", 10);
  config_.optimizer.name = OptimizerName::sgd;
  config_.optimizer.momentum = 0.5;
  expect_error(ExitCode::usage, {"adamw", "sgd", "0.5"}, [&] { run(dir_ / "r"); });
}

TEST_F(RunEndTest, SgdWithoutMomentumSavesNoState) {
  config_.optimizer.name = OptimizerName::sgd;
  config_.schedule.warmup = 0;
  config_.train.steps = 2;
  run(dir_ / "r");
  const Manifest manifest = verify_checkpoint(RunPaths(dir_ / "r").checkpoint(2));
  EXPECT_EQ(manifest.files.size(), 1U);
  EXPECT_TRUE(manifest.files.contains(kModelFileName));
}

}  // namespace
}  // namespace chargpt
