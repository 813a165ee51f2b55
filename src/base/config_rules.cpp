#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "chargpt/base/config.hpp"
#include "chargpt/base/device_name.hpp"
#include "chargpt/base/signal_list.hpp"
#include "chargpt/base/unknown_prompt.hpp"

namespace chargpt {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ExitCode::usage, message); }

bool reads_text(const DataConfig& data) {
  if (data.format != DataFormat::automatic) return data.format == DataFormat::text;
  return !data.path.empty() && !data.path.ends_with(".jsonl");
}

void check_data(const DataConfig& data) {
  if (data.val_fraction + data.test_fraction >= 1) {
    refuse(fmt::format(
        "data.val_fraction = {} and data.test_fraction = {} leave nothing to train on: lower one of them so "
        "that their sum is below 1",
        data.val_fraction, data.test_fraction));
  }
  if (data.split == SplitMethod::document && reads_text(data)) {
    refuse(
        fmt::format("data.split = document needs JSONL documents, but data.format = {} with data.path = \"{}\" is one "
                    "text: set data.split to contiguous, or data.format to jsonl",
                    name(data.format), data.path));
  }
}

void check_model(const ModelConfig& model) {
  if (model.width % model.heads == 0) return;
  const std::int64_t lower = model.width / model.heads * model.heads;
  const std::string multiples =
      lower == 0 ? fmt::format("{}", model.heads) : fmt::format("{} or {}", lower, lower + model.heads);
  refuse(
      fmt::format("model.width = {} is not a multiple of model.heads = {}: set model.width to {}, or model.heads to a "
                  "divisor of the width",
                  model.width, model.heads, multiples));
}

void check_train(const TrainConfig& train) {
  if ((train.steps > 0) == (train.epochs > 0)) {
    refuse(fmt::format("train.steps = {} and train.epochs = {}: exactly one of them says how long to train; {}",
                       train.steps, train.epochs, train.steps > 0 ? "set the other to 0" : "set one above 0"));
  }
  if (train.micro_batch > train.batch) {
    refuse(
        fmt::format("train.micro_batch = {} is larger than train.batch = {}: lower train.micro_batch (0: the whole "
                    "batch in one pass) or raise train.batch",
                    train.micro_batch, train.batch));
  }
}

/// Each row of attention weights has a mask of its own, numbered over the whole batch.
void check_mask_rows(const Config& config) {
  const auto most = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
  const std::int64_t rows = config.model.heads * config.model.context;
  if (config.model.dropout == 0.0 || config.train.batch <= most / rows) return;
  refuse(
      fmt::format("train.batch = {} with model.heads = {} and model.context = {} has more rows of attention weights "
                  "than dropout can number ({}): lower train.batch to at most {}, or set model.dropout to 0",
                  config.train.batch, config.model.heads, config.model.context, most, most / rows));
}

void check_precision(const Config& config) {
  if (config.run.precision == Precision::fp32) return;
  const AttentionPath path = config.model.attention;
  if (path == AttentionPath::heads || path == AttentionPath::fused) {
    refuse(
        fmt::format("run.precision = bf16 with model.attention = {}: only the native path has bf16 products; set "
                    "model.attention to auto or native, or run.precision to fp32",
                    name(path)));
  }
  if (parse_device_name(config.run.device).kind == DeviceName::Kind::cuda) {
    refuse(
        fmt::format("run.precision = bf16 with run.device = {}: bf16 is not supported on CUDA yet, only on a CPU; set "
                    "run.device to cpu or run.precision to fp32",
                    config.run.device));
  }
}

void check_optimizer(const Config& config) {
  const OptimizerConfig& optimizer = config.optimizer;
  const ScheduleConfig& schedule = config.schedule;
  if (optimizer.betas.size() != 2) {
    refuse(fmt::format("optimizer.betas = [{}] with {} numbers: give exactly two, such as [0.9, 0.999]",
                       fmt::join(optimizer.betas, ", "), optimizer.betas.size()));
  }
  if (schedule.min_learning_rate > optimizer.learning_rate) {
    refuse(
        fmt::format("schedule.min_learning_rate = {} is above optimizer.learning_rate = {}: lower "
                    "schedule.min_learning_rate or raise optimizer.learning_rate",
                    schedule.min_learning_rate, optimizer.learning_rate));
  }
  if (config.train.steps > 0 && schedule.warmup > config.train.steps) {
    refuse(
        fmt::format("schedule.warmup = {} is longer than train.steps = {}: lower schedule.warmup or raise train.steps",
                    schedule.warmup, config.train.steps));
  }
}

}  // namespace

void check_rules(const SampleConfig& sample) {
  parse_unknown_prompt(sample.unknown);
  const auto& stop = sample.stop;
  if (std::find(stop.begin(), stop.end(), "") != stop.end()) {
    refuse("sample.stop holds an empty text, at which every sample would end at once: leave it out");
  }
}

void check_rules(const Config& config) {
  parse_device_name(config.run.device);
  parse_signal_list(config.run.stop_signals);
  check_data(config.data);
  check_model(config.model);
  check_train(config.train);
  check_mask_rows(config);
  check_precision(config);
  check_optimizer(config);
  check_rules(config.sample);
}

}  // namespace chargpt
