#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <limits>
#include <set>

#include "chargpt/base/file.hpp"
#include "engine/run_support.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

TEST_F(TrainingRunTest, AStoppedAndResumedRunIsTheUninterruptedOne) {
  const Outcome straight = outcome(dir_ / "straight", run(dir_ / "straight"));
  EXPECT_EQ(straight.records.size(), 12U + 4U + 3U + 1U);
  for (int stop_after = 0; stop_after < 80; ++stop_after) {
    SCOPED_TRACE(stop_after);
    const std::string folder = dir_ / ("stopped" + std::to_string(stop_after));
    const RunResult stopped = run(folder, stop_after);
    const RunResult result = run(folder);
    EXPECT_TRUE(result.finished());
    expect_equal(outcome(folder, result), straight);
    if (stopped.finished()) return;  // asked less often than that
  }
  FAIL() << "the run asks more often whether to stop than is tested";
}

TEST_F(TrainingRunTest, ManyStopsInOneRunAreNone) {
  const Outcome straight = outcome(dir_ / "straight", run(dir_ / "straight"));
  RunResult result;
  for (int i = 0; i < 100 && !result.finished(); ++i) result = run(dir_ / "stopped", 3 + i % 7);
  ASSERT_TRUE(result.finished());
  expect_equal(outcome(dir_ / "stopped", result), straight);
}

TEST_F(TrainingRunTest, HowOftenItEvaluatesSavesAndSamplesNeverChangesTraining) {
  const Outcome often = outcome(dir_ / "often", run(dir_ / "often"));
  config_.train.eval_every = config_.train.save_every = config_.train.sample_every = 0;
  const Outcome seldom = outcome(dir_ / "seldom", run(dir_ / "seldom"));
  EXPECT_TRUE(often.tensors[0].equal(seldom.tensors[0]));
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
  const std::uint64_t size = corpus_.fingerprint.bytes;
  config_.data.path = dir_.write("other.txt", rhyme() + "at\n");
  corpus_ = load_corpus(config_);
  expect_error(ExitCode::bad_data, {std::to_string(size), std::to_string(size + 3), "--allow-data-change"},
               [&] { run(dir_ / "run"); });
  std::vector<std::string> warnings;
  Trainer trainer(config_, corpus_);
  EXPECT_TRUE(restore_checkpoint(
      RunPaths(dir_ / "run"), trainer, [&](const std::string& message) { warnings.push_back(message); },
      DataChange::allowed));
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(TrainingRunTest, RefusesAnotherVocabularyAndAnotherModelWhateverIsAllowed) {
  run(dir_ / "run", 10);
  const RunPaths paths(dir_ / "run");
  const auto restore = [&] {
    Trainer trainer(config_, corpus_);
    restore_checkpoint(
        paths, trainer, [](const std::string&) {}, DataChange::allowed);
  };
  const Corpus own = corpus_;
  config_.data.path = dir_.write("other.txt", rhyme() + "XYZ");
  corpus_ = load_corpus(config_);
  expect_error(ExitCode::bad_data,
               {"vocabulary of " + std::to_string(own.tokenizer.size()), std::to_string(own.tokenizer.size() + 3)},
               restore);
  corpus_ = own;
  config_.model.width = 32;
  expect_error(ExitCode::usage, {"width 16", "width 32"}, restore);
  config_.model.width = 16;
  config_.model.tied_head = true;
  expect_error(ExitCode::usage, {"tied_head false", "tied_head true"}, restore);
}

TEST_F(TrainingRunTest, StopsAtALossThatIsNotFiniteAndKeepsWhatWasSaved) {
  config_.optimizer.learning_rate = 1e30;
  config_.optimizer.clip = 0.0;
  config_.schedule.name = ScheduleName::constant;
  config_.schedule.warmup = 0;
  config_.train.save_every = 1;
  expect_error(ExitCode::diverged, {"diverged at step 2", "gradient norm", "learning rate 1e+30"},
               [&] { run(dir_ / "run"); });
  EXPECT_EQ(verify_checkpoint(RunPaths(dir_ / "run").checkpoint(1)).step, 1);
  const Outcome all = outcome(dir_ / "run", {});
  EXPECT_EQ(all.records.back(), (Json{{"v", 1}, {"event", "end"}, {"step", 1}, {"stopped", "diverged"}}));
}

/// Weights that are finite, but of which the network makes numbers that are not.
TEST_F(TrainingRunTest, StopsAtAnEvaluationOrASampleThatIsNotFiniteAndCallsItNeitherBestNorFinished) {
  config_.optimizer.learning_rate = 1e30;
  config_.optimizer.clip = 0.0;
  config_.schedule = {};
  config_.train.eval_first = false;
  config_.train.steps = 1;
  expect_error(ExitCode::diverged, {"diverged by step 1", "validation loss is nan"}, [&] { run(dir_ / "evaluated"); });
  EXPECT_FALSE(read_best(RunPaths(dir_ / "evaluated").checkpoints()));
  EXPECT_EQ(outcome(dir_ / "evaluated", {}).records.back()["stopped"], "diverged");
  config_.data.val_fraction = 0.0;
  config_.train.sample_every = 1;
  corpus_ = load_corpus(config_);
  expect_error(ExitCode::diverged, {"diverged by step 1", "logit"}, [&] { run(dir_ / "sampled"); });
}

TEST_F(TrainingRunTest, SkipsStepsThatAreNotFiniteWhereThatIsAskedForAndMarksThem) {
  config_.optimizer.learning_rate = 1e30;
  config_.optimizer.clip = 0.0;
  config_.schedule.name = ScheduleName::constant;
  config_.schedule.warmup = 0;
  config_.train.eval_every = config_.train.sample_every = 0;
  config_.train.on_nonfinite = NonFinitePolicy::skip;
  config_.data.val_fraction = 0.0;
  corpus_ = load_corpus(config_);
  const Outcome all = outcome(dir_ / "run", run(dir_ / "run"));
  EXPECT_TRUE(all.tensors[0].isfinite().all().item<bool>());
  ASSERT_EQ(all.records.size(), 13U);
  EXPECT_FALSE(all.records[0].contains("skipped"));
  EXPECT_EQ(all.records[12]["event"], "end");
  for (std::size_t i = 1; i < 12; ++i) {
    EXPECT_EQ(all.records[i]["step"], i + 1);
    EXPECT_EQ(all.records[i]["skipped"], true);
  }
}

TEST_F(TrainingRunTest, NeverSavesWhatIsNotFinite) {
  config_.train.ema = 0.9;
  run(dir_ / "run", 10);
  const RunPaths paths(dir_ / "run");
  const auto before = list_checkpoints(paths.checkpoints());
  for (const torch::Tensor& numbers : {trainer_->model()->flat().values(), trainer_->optimizer().state()[0],
                                       trainer_->optimizer().state()[1], trainer_->average()->values()}) {
    const torch::NoGradGuard no_grad;
    const torch::Tensor sound = numbers.clone();
    numbers[3] = std::numeric_limits<float>::infinity();
    expect_error(ExitCode::diverged, {"not finite"}, [&] { save_checkpoint(paths, *trainer_, {}); });
    numbers.copy_(sound);
  }
  EXPECT_EQ(list_checkpoints(paths.checkpoints()), before);
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
