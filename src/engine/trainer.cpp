#include "chargpt/engine/trainer.hpp"

#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "chargpt/base/error.hpp"
#include "chargpt/base/schedule.hpp"

namespace chargpt {
namespace {

CharGPT seeded_model(const Config& config, const Corpus& corpus, torch::Device device) {
  torch::manual_seed(static_cast<std::uint64_t>(config.run.seed));
  return CharGPT(config.model, corpus.tokenizer.size(), torch::TensorOptions(torch::kFloat).device(device));
}

}  // namespace

Trainer::Trainer(const Config& config, const Corpus& corpus, torch::Device device)
    : config_(config),
      corpus_(corpus),
      passes_(seeded_model(config, corpus, device), config.run),
      optimizer_(model()->flat(), config.optimizer, passes_.pool()),
      index_(corpus.train, config.model.context, config.data.stride),
      schedule_(index_.size(), config.data.windows, config.train.batch, static_cast<std::uint64_t>(config.run.seed)),
      total_steps_(chargpt::total_steps(config.train, index_.size(), config.model.context)) {
  check_schedule(config.schedule, total_steps_);
  if (config.train.ema > 0.0) average_.emplace(model()->flat(), config.train.ema, passes_.pool());
}

void Trainer::set_weights(const torch::Tensor& values) {
  const torch::NoGradGuard no_grad;
  model()->flat().values().copy_(values);
  if (average_) average_->values().copy_(values);
}

TokenBatch Trainer::batch_of(std::span<const std::int64_t> windows) const {
  TokenBatch batch;
  batch.windows = static_cast<std::int64_t>(windows.size());
  batch.length = config_.model.context;
  const auto size = static_cast<std::size_t>(batch.windows * batch.length);
  batch.inputs.reserve(size);  // growing by steps would take up to three times the memory
  batch.targets.reserve(size);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(batch.length) + 1);
  for (const std::int64_t window : windows) {
    corpus_.train.read(index_.offset(window), ids);
    batch.inputs.insert(batch.inputs.end(), ids.begin(), ids.end() - 1);
    batch.targets.insert(batch.targets.end(), ids.begin() + 1, ids.end());
  }
  return batch;
}

double Trainer::accumulate(std::span<const std::int64_t> windows, std::int64_t first_window) {
  const DropoutState dropout{config_.model.dropout, static_cast<std::uint64_t>(config_.run.seed), steps_done(),
                             first_window};
  const double share = static_cast<double>(windows.size()) / static_cast<double>(config_.train.batch);
  return passes_.accumulate_gradients(batch_of(windows), dropout, share, config_.train.label_smoothing);
}

std::optional<StepReport> Trainer::step(const std::function<bool()>& stopped) {
  const auto start = std::chrono::steady_clock::now();
  const auto windows = schedule_.windows(steps_done());
  const auto per_pass = static_cast<std::size_t>(config_.train.windows_per_pass());
  model()->flat().zero_gradients();
  passes_.read_weights(true);
  StepReport report;
  for (std::size_t first = 0; first < windows.size(); first += per_pass) {
    if (stopped && stopped()) return std::nullopt;
    const std::size_t count = std::min(per_pass, windows.size() - first);
    report.loss += accumulate({windows.data() + first, count}, static_cast<std::int64_t>(first));
  }
  report.learning_rate = learning_rate(config_.optimizer, config_.schedule, steps_done(), total_steps_);
  report.loss = std::abs(report.loss);  // never negative but for the sign of a NaN, which says nothing
  report.gradient_norm = std::abs(optimizer_.gradient_norm());
  report.skipped = !std::isfinite(report.loss) || !std::isfinite(report.gradient_norm);
  if (report.skipped) {
    skip(report);
  } else {
    optimizer_.step(report.learning_rate, report.gradient_norm);
    if (average_) average_->update(steps_done());
  }
  report.step = steps_done();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

void Trainer::skip(const StepReport& report) {
  switch (config_.train.on_nonfinite) {
    case NonFinitePolicy::stop:
      throw Error(
          ExitCode::diverged,
          fmt::format(
              "diverged at step {}: loss {}, gradient norm {}, learning rate {}; lower optimizer.learning_rate or "
              "set optimizer.clip",
              steps_done() + 1, report.loss, report.gradient_norm, report.learning_rate));
    case NonFinitePolicy::skip:
      optimizer_.set_steps(steps_done() + 1);
  }
}

}  // namespace chargpt
