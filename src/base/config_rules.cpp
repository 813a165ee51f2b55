#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "chargpt/base/config.hpp"
#include "chargpt/base/device_name.hpp"
#include "chargpt/base/encoding.hpp"
#include "chargpt/base/schedule.hpp"
#include "chargpt/base/signal_list.hpp"
#include "chargpt/base/unknown_prompt.hpp"

namespace chargpt {
namespace {

/// Bytes are taken as they are.
void check_bytes(const DataConfig& data) {
  const DataConfig unset;
  const auto refuse_key = [](const char* key, const auto& value, const auto& wanted) {
    fail_usage(
        fmt::format("data.format = bytes takes the bytes as they are, but data.{} = {}: leave it at {}, or set "
                    "data.format to text",
                    key, value, wanted));
  };
  if (data.encoding != unset.encoding) refuse_key("encoding", data.encoding, unset.encoding);
  if (data.normalize != unset.normalize) refuse_key("normalize", name(data.normalize), name(unset.normalize));
  if (data.min_count != unset.min_count) refuse_key("min_count", data.min_count, unset.min_count);
  if (data.max_vocabulary != 0) refuse_key("max_vocabulary", data.max_vocabulary, 0);
  if (!data.vocabulary.empty()) refuse_key("vocabulary", data.vocabulary, "\"\"");
}

void check_data(const DataConfig& data) {
  if (data.val_fraction + data.test_fraction >= 1) {
    fail_usage(fmt::format(
        "data.val_fraction = {} and data.test_fraction = {} leave nothing to train on: lower one of them so "
        "that their sum is below 1",
        data.val_fraction, data.test_fraction));
  }
  if (!is_known_encoding(data.encoding)) {
    fail_usage(
        fmt::format("data.encoding = \"{}\": this system's iconv knows no such encoding; `iconv -l` lists them, "
                    "such as UTF-8, WINDOWS-1252, GB18030",
                    data.encoding));
  }
  if (data.format == DataFormat::bytes) check_bytes(data);
  const std::array paths = {data.path, data.val_path, data.test_path, data.vocabulary};
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    fail_usage(
        fmt::format("data.path = \"{}\", data.val_path = \"{}\", data.test_path = \"{}\", data.vocabulary = \"{}\": "
                    "standard input (-) can be one of them only: save the others as files",
                    data.path, data.val_path, data.test_path, data.vocabulary));
  }
  if (data.cache.empty()) fail_usage("data.cache = \"\" names nothing: set it to auto, off or a folder");
}

void check_model(const ModelConfig& model) {
  if (model.width % model.heads == 0) return;
  const std::int64_t lower = model.width / model.heads * model.heads;
  const std::string multiples =
      lower == 0 ? fmt::format("{}", model.heads) : fmt::format("{} or {}", lower, lower + model.heads);
  fail_usage(
      fmt::format("model.width = {} is not a multiple of model.heads = {}: set model.width to {}, or model.heads to a "
                  "divisor of the width",
                  model.width, model.heads, multiples));
}

void check_train(const TrainConfig& train) {
  const int lengths = (train.steps > 0 ? 1 : 0) + (train.epochs > 0 ? 1 : 0) + (train.characters > 0 ? 1 : 0);
  if (lengths != 1) {
    fail_usage(fmt::format(
        "train.steps = {}, train.epochs = {} and train.characters = {}: exactly one of them says how "
        "long to train; {}",
        train.steps, train.epochs, train.characters, lengths == 0 ? "set one above 0" : "set the others to 0"));
  }
  if (train.windows_per_pass() > train.batch) {
    fail_usage(
        fmt::format("train.micro_batch = {} is larger than train.batch = {}: lower train.micro_batch (0: the whole "
                    "batch in one pass) or raise train.batch",
                    *train.micro_batch, train.batch));
  }
}

/// A run that ends by its evaluations has to have some.
void check_early_stop(const char* key, const std::string& value, const Config& config) {
  const DataConfig& data = config.data;
  if (data.val_fraction == 0 && data.val_path.empty()) {
    fail_usage(
        fmt::format("{} = {} needs a validation loss, but data.val_fraction = 0 and data.val_path = \"\": set one of "
                    "these, or {} to 0",
                    key, value, key));
  }
  if (config.train.eval_every.count == 0) {
    fail_usage(
        fmt::format("{} = {} needs evaluations on the way, but train.eval_every = 0 has none before the end: set "
                    "train.eval_every, or {} to 0",
                    key, value, key));
  }
}

/// Each row of attention weights has a mask of its own, numbered over the whole batch.
void check_mask_rows(const Config& config) {
  const auto most = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
  const std::int64_t rows = config.model.heads * config.model.context;
  if (config.model.dropout == 0.0 || config.train.batch <= most / rows) return;
  fail_usage(
      fmt::format("train.batch = {} with model.heads = {} and model.context = {} has more rows of attention weights "
                  "than dropout can number ({}): lower train.batch to at most {}, or set model.dropout to 0",
                  config.train.batch, config.model.heads, config.model.context, most, most / rows));
}

void check_precision(const Config& config) {
  if (config.run.precision == Precision::fp32) return;
  const AttentionPath path = config.model.attention;
  if (path == AttentionPath::heads || path == AttentionPath::fused) {
    fail_usage(
        fmt::format("run.precision = bf16 with model.attention = {}: only the native path has bf16 products; set "
                    "model.attention to auto or native, or run.precision to fp32",
                    name(path)));
  }
  if (parse_device_name(config.run.device).kind == DeviceName::Kind::cuda) {
    fail_usage(
        fmt::format("run.precision = bf16 with run.device = {}: bf16 is not supported on CUDA yet, only on a CPU; set "
                    "run.device to cpu or run.precision to fp32",
                    config.run.device));
  }
}

void check_optimizer(const Config& config) {
  const OptimizerConfig& optimizer = config.optimizer;
  const ScheduleConfig& schedule = config.schedule;
  if (optimizer.betas.size() != 2) {
    fail_usage(fmt::format("optimizer.betas = [{}] with {} numbers: give exactly two, such as [0.9, 0.999]",
                           fmt::join(optimizer.betas, ", "), optimizer.betas.size()));
  }
  if (schedule.min_learning_rate > optimizer.learning_rate) {
    fail_usage(
        fmt::format("schedule.min_learning_rate = {} is above optimizer.learning_rate = {}: lower "
                    "schedule.min_learning_rate or raise optimizer.learning_rate",
                    schedule.min_learning_rate, optimizer.learning_rate));
  }
  if (optimizer.momentum > 0 && optimizer.name != OptimizerName::sgd) {
    fail_usage(
        fmt::format("optimizer.momentum = {} is SGD's, but optimizer.name = {} (whose momentum is the first of "
                    "optimizer.betas): set optimizer.name to sgd, or optimizer.momentum to 0",
                    optimizer.momentum, name(optimizer.name)));
  }
  if (config.train.steps > 0) check_schedule(schedule, config.train.steps);
}

void check_run(const RunConfig& run) {
  parse_signal_list(run.stop_signals);
  if (parse_device_name(run.device).kind == DeviceName::Kind::cpu && run.tf32) {
    fail_usage(
        fmt::format("run.tf32 = true is for CUDA, but run.device = {} computes in 32-bit floats: set run.tf32 to "
                    "false, or run.device to cuda",
                    run.device));
  }
}

}  // namespace

void check_rules(const SampleConfig& sample) {
  parse_unknown_prompt(sample.unknown);
  const auto& stop = sample.stop;
  if (std::find(stop.begin(), stop.end(), "") != stop.end()) {
    fail_usage("sample.stop holds an empty text, at which every sample would end at once: leave it out");
  }
}

void check_rules(const Config& config) {
  check_run(config.run);
  check_data(config.data);
  check_model(config.model);
  check_train(config.train);
  if (config.train.target_loss > 0) {
    check_early_stop("train.target_loss", fmt::format("{}", config.train.target_loss), config);
  }
  if (config.train.patience > 0) check_early_stop("train.patience", fmt::format("{}", config.train.patience), config);
  check_mask_rows(config);
  check_precision(config);
  check_optimizer(config);
  check_rules(config.sample);
}

}  // namespace chargpt
