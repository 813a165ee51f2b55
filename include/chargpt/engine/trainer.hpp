#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "chargpt/base/config.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/windows.hpp"
#include "chargpt/engine/optimizer.hpp"
#include "chargpt/engine/passes.hpp"
#include "chargpt/engine/weight_average.hpp"

namespace chargpt {

/// What one optimizer step did.
struct StepReport {
  std::int64_t step = 0;  ///< steps done, this one included
  double loss = 0.0;      ///< nats per character over the whole batch, before the update; with its label smoothing
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  ///< before clipping
  double seconds = 0.0;
  bool skipped = false;  ///< loss or gradient_norm is not finite, and no weight was changed
};

/// A model, its optimizer and its place in the data. Step s is a function of (config, corpus, weights before it, s):
/// nothing else is carried from step to step.
class Trainer {
 public:
  /// A freshly initialised model for `config` (seeded by run.seed). `corpus` must outlive this. Error(usage) for a
  /// schedule that does not fit into the run.
  Trainer(const Config& config, const Corpus& corpus, torch::Device device = torch::kCPU);

  /// One optimizer step. `stopped` is asked before each micro-batch; when it says true, nothing is changed and nothing
  /// returned. At a loss or gradient that is not finite the weights stay as they were: Error(diverged), or a skipped
  /// step where train.on_nonfinite says so.
  std::optional<StepReport> step(const std::function<bool()>& stopped = {});

  std::int64_t steps_done() const { return optimizer_.steps(); }
  std::int64_t total_steps() const { return total_steps_; }
  std::int64_t windows() const { return index_.size(); }  ///< training windows: one epoch
  CharGPT& model() { return passes_.model(); }
  Passes& passes() { return passes_; }
  Optimizer& optimizer() { return optimizer_; }
  /// Of the weights, as train.ema asks for; else nothing.
  std::optional<WeightAverage>& average() { return average_; }
  /// Begins with other weights than the fresh ones: (P) floats. To be called before the first step.
  void set_weights(const torch::Tensor& values);
  const Config& config() const { return config_; }
  const Corpus& corpus() const { return corpus_; }

 private:
  TokenBatch batch_of(std::span<const std::int64_t> windows) const;
  void skip(const StepReport& report);
  double accumulate(std::span<const std::int64_t> windows, std::int64_t first_window);

  Config config_;
  const Corpus& corpus_;
  Passes passes_;
  Optimizer optimizer_;
  std::optional<WeightAverage> average_;
  WindowIndex index_;
  WindowSchedule schedule_;
  std::int64_t total_steps_;
};

/// While it lives, the model has the weights that are evaluated and sampled: their average, where there is one.
class EvaluationWeights {
 public:
  explicit EvaluationWeights(Trainer& trainer) : average_(trainer.average()) {
    if (average_) average_->exchange();
  }
  EvaluationWeights(const EvaluationWeights&) = delete;
  EvaluationWeights& operator=(const EvaluationWeights&) = delete;
  ~EvaluationWeights() {
    if (average_) average_->exchange();
  }

 private:
  std::optional<WeightAverage>& average_;
};

}  // namespace chargpt
