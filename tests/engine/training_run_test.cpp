#include "chargpt/engine/training_run.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "chargpt/base/error.hpp"
#include "chargpt/base/file.hpp"
#include "engine/support.hpp"

namespace chargpt {
namespace {

struct Outcome {
  torch::Tensor weights, first_moment, second_moment;
  std::vector<Json> records;  ///< without the times
  RunProgress progress;
};

class TrainingRunTest : public testing::Test {
 protected:
  /// Runs in `folder` from its newest checkpoint, if any, until `stop_after` questions whether to stop.
  RunResult run(const std::string& folder, int stop_after = -1) {
    const RunPaths paths(folder);
    make_folders(paths.root);
    trainer_.emplace(config_, corpus_);
    const auto progress =
        restore_checkpoint(paths, *trainer_, [](const std::string& message) { ADD_FAILURE() << message; });
    RunEvents events;
    int asked = 0;
    events.stopped = [&] { return stop_after >= 0 && asked++ >= stop_after; };
    return run_training(*trainer_, paths, progress.value_or(RunProgress{}), events);
  }

  Outcome outcome(const std::string& folder, const RunResult& result) {
    Outcome all{trainer_->model()->flat().values().clone(),
                trainer_->optimizer().first_moment().clone(),
                trainer_->optimizer().second_moment().clone(),
                {},
                result.progress};
    const std::string text = read_file(RunPaths(folder).metrics());
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      Json record = parse_json(text.substr(begin, text.find('\n', begin) - begin), {"metrics"});
      record.erase("seconds");
      all.records.push_back(record);
    }
    return all;
  }

  static void expect_equal(const Outcome& a, const Outcome& b) {
    EXPECT_TRUE(a.weights.equal(b.weights));
    EXPECT_TRUE(a.first_moment.equal(b.first_moment));
    EXPECT_TRUE(a.second_moment.equal(b.second_moment));
    EXPECT_EQ(a.records, b.records);
    EXPECT_EQ(a.progress.best_step, b.progress.best_step);
    EXPECT_EQ(a.progress.best_loss, b.progress.best_loss);
    EXPECT_EQ(a.progress.smoothed_loss, b.progress.smoothed_loss);
  }

  TempDir dir_;
  Config config_ = [this] {
    Config config = tiny_config(dir_);
    config.train.eval_first = true;
    config.train.sample_every = 4;
    config.sample.length = 5;
    return config;
  }();
  Corpus corpus_ = load_corpus(config_);
  std::optional<Trainer> trainer_;
};

TEST_F(TrainingRunTest, AStoppedAndResumedRunIsTheUninterruptedOne) {
  const Outcome straight = outcome(dir_ / "straight", run(dir_ / "straight"));
  EXPECT_EQ(straight.records.size(), 12U + 4U + 3U);
  for (int stop_after = 0; stop_after < 80; ++stop_after) {
    SCOPED_TRACE(stop_after);
    const std::string folder = dir_ / ("stopped" + std::to_string(stop_after));
    const RunResult stopped = run(folder, stop_after);
    const RunResult result = run(folder);
    EXPECT_TRUE(result.finished);
    expect_equal(outcome(folder, result), straight);
    if (stopped.finished) return;  // asked less often than that
  }
  FAIL() << "the run asks more often whether to stop than is tested";
}

TEST_F(TrainingRunTest, ManyStopsInOneRunAreNone) {
  const Outcome straight = outcome(dir_ / "straight", run(dir_ / "straight"));
  RunResult result;
  for (int i = 0; i < 100 && !result.finished; ++i) result = run(dir_ / "stopped", 3 + i % 7);
  ASSERT_TRUE(result.finished);
  expect_equal(outcome(dir_ / "stopped", result), straight);
}

TEST_F(TrainingRunTest, HowOftenItEvaluatesSavesAndSamplesNeverChangesTraining) {
  const Outcome often = outcome(dir_ / "often", run(dir_ / "often"));
  config_.train.eval_every = config_.train.save_every = config_.train.sample_every = 0;
  const Outcome seldom = outcome(dir_ / "seldom", run(dir_ / "seldom"));
  EXPECT_TRUE(often.weights.equal(seldom.weights));
}

/// The steps of the run's evaluation records.
std::vector<std::int64_t> evaluated(const Outcome& outcome) {
  std::vector<std::int64_t> steps;
  for (const Json& record : outcome.records) {
    if (record["event"] == "evaluation") steps.push_back(record["step"].get<std::int64_t>());
  }
  return steps;
}

TEST_F(TrainingRunTest, EvaluatesBeforeTheFirstStepAndAfterEachEpoch) {
  config_.data.stride = 100;
  config_.data.windows = WindowOrder::shuffled;
  config_.train.steps = 0;
  config_.train.epochs = 3;
  config_.train.eval_every = {1, IntervalUnit::epochs};
  const std::int64_t windows = Trainer(config_, corpus_).windows();
  std::vector<std::int64_t> wanted = {0};
  for (int epoch = 1; epoch <= 3; ++epoch) wanted.push_back((epoch * windows + 3) / 4);  // batches of 4
  const Outcome run_outcome = outcome(dir_ / "run", run(dir_ / "run"));
  EXPECT_EQ(evaluated(run_outcome), wanted);
  EXPECT_EQ(run_outcome.records.front()["step"], 0);
}

TEST_F(TrainingRunTest, ARandomEstimateIsRecordedWithItsErrorAndDrawnAnewEachTime) {
  config_.eval.mode = EvalMode::random;
  config_.eval.windows = 20;
  config_.optimizer.learning_rate = 1e-12;  // the weights stay, the draws change
  const Outcome estimates = outcome(dir_ / "run", run(dir_ / "run"));
  std::set<double> losses;
  for (const Json& record : estimates.records) {
    if (record["event"] != "evaluation") continue;
    EXPECT_GT(record["standard_error"].get<double>(), 0.0);
    losses.insert(record["nats_per_char"].get<double>());
  }
  EXPECT_EQ(losses.size(), 4U);
}

TEST_F(TrainingRunTest, KeepsTheNewestCheckpointsAndTheBest) {
  config_.train.keep = 1;
  const RunResult result = run(dir_ / "run");
  const RunPaths paths(dir_ / "run");
  const std::set<std::int64_t> wanted = {12, *result.progress.best_step};
  const auto steps = list_checkpoints(paths.checkpoints());
  EXPECT_EQ(std::set<std::int64_t>(steps.begin(), steps.end()), wanted);
  EXPECT_EQ(read_best(paths.checkpoints()), result.progress.best_step);
}

TEST_F(TrainingRunTest, RefusesToResumeOnOtherData) {
  run(dir_ / "run", 10);
  config_.data.path = dir_.write("other.txt", rhyme() + "x");
  corpus_ = load_corpus(config_);
  try {
    run(dir_ / "run");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_data);
  }
}

TEST_F(TrainingRunTest, PassesOverADamagedCheckpointAndRefusesWhenAllAre) {
  run(dir_ / "run", 30);
  const RunPaths paths(dir_ / "run");
  const auto steps = list_checkpoints(paths.checkpoints());
  ASSERT_GE(steps.size(), 2U);
  const auto damage = [&](std::int64_t step) {
    const std::string file = paths.checkpoint(step) + "/model.safetensors";
    std::string bytes = read_file(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_file_atomically(file, bytes);
  };
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& message) { warnings.push_back(message); };
  damage(steps.back());
  Trainer trainer(config_, corpus_);
  EXPECT_TRUE(restore_checkpoint(paths, trainer, warn));
  EXPECT_EQ(trainer.steps_done(), steps[steps.size() - 2]);
  EXPECT_EQ(warnings.size(), 1U);
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) damage(steps[i]);
  try {
    restore_checkpoint(paths, trainer, warn);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unusable_model);
  }
}

}  // namespace
}  // namespace chargpt
