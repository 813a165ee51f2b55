#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <optional>

#include "chargpt/base/file.hpp"
#include "chargpt/engine/training_run.hpp"
#include "engine/support.hpp"

namespace chargpt {

/// All that a run ends with.
struct Outcome {
  std::vector<torch::Tensor> tensors;  ///< weights, optimizer's state, average
  std::vector<Json> records;           ///< without the times
  RunProgress progress;
};

/// On one thread: these models are too small for two, which would only wait for each other.
class TrainingRunTest : public testing::Test {
 protected:
  TrainingRunTest() { at::set_num_threads(1); }
  ~TrainingRunTest() override { at::set_num_threads(threads_); }

  /// Runs in `folder` from its newest checkpoint, if any, until `stop_after` questions whether to stop.
  RunResult run(const std::string& folder, int stop_after = -1) {
    return run(folder, [stop_after, asked = 0]() mutable { return stop_after >= 0 && asked++ >= stop_after; });
  }

  /// The same until `stopped` says so.
  RunResult run(const std::string& folder, const std::function<bool()>& stopped) {
    const RunPaths paths(folder);
    make_folders(paths.root);
    trainer_.emplace(config_, corpus_);
    const auto progress =
        restore_checkpoint(paths, *trainer_, [](const std::string& message) { ADD_FAILURE() << message; });
    RunEvents events;
    events.stopped = stopped;
    return run_training(*trainer_, paths, progress.value_or(RunProgress{}), events);
  }

  Outcome outcome(const std::string& folder, const RunResult& result) {
    Outcome all{{trainer_->model()->flat().values().clone()}, {}, result.progress};
    for (const torch::Tensor& state : trainer_->optimizer().state()) all.tensors.push_back(state.clone());
    if (trainer_->average()) all.tensors.push_back(trainer_->average()->values().clone());
    const std::string text = read_file(RunPaths(folder).metrics());
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      Json record = parse_json(text.substr(begin, text.find('\n', begin) - begin), {"metrics"});
      record.erase("seconds");
      all.records.push_back(record);
    }
    return all;
  }

  static void expect_equal(const Outcome& a, const Outcome& b) {
    ASSERT_EQ(a.tensors.size(), b.tensors.size());
    for (std::size_t i = 0; i < a.tensors.size(); ++i) EXPECT_TRUE(a.tensors[i].equal(b.tensors[i])) << i;
    EXPECT_EQ(a.records, b.records);
    EXPECT_EQ(a.progress.best_step, b.progress.best_step);
    EXPECT_EQ(a.progress.best_loss, b.progress.best_loss);
    EXPECT_EQ(a.progress.evaluations_since_best, b.progress.evaluations_since_best);
    EXPECT_EQ(a.progress.smoothed_loss, b.progress.smoothed_loss);
  }

  const int threads_ = at::get_num_threads();
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

}  // namespace chargpt
