#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/event_file.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/initial_weights.hpp"
#include "chargpt/base/model_file.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/preparation_line.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/commands/dry_run.hpp"
#include "chargpt/commands/progress.hpp"
#include "chargpt/commands/stop_rule.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/memory_estimate.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/engine/training_run.hpp"

namespace chargpt {
namespace {

/// Everything said on stderr also stands in the run's log.txt, with the time.
void log_to_file(const RunPaths& paths) {
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(paths.log());
  sink->set_pattern("%Y-%m-%d %H:%M:%S %v");
  spdlog::default_logger()->sinks().push_back(std::move(sink));
  spdlog::default_logger()->flush_on(spdlog::level::debug);
}

void describe(Trainer& trainer, const ChosenDevice& device, int threads) {
  const Corpus& corpus = trainer.corpus();
  const std::string where =
      device.reason.empty() ? device.device.str() : fmt::format("{} ({})", device.device.str(), device.reason);
  spdlog::info("{} parameters on {}, {} threads; vocabulary {}; {} characters to train on, {} to validate",
               trainer.model()->flat().size(), where, threads, corpus.tokenizer.size(), corpus.train.size(),
               corpus.val.size());
}

InitialWeights take_initial_weights(const std::string& file, Trainer& trainer) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor weights = trainer.model()->flat().values();
  const torch::Tensor values = weights.cpu();
  const InitialWeights initial =
      load_initial_weights(file, trainer.config().model, trainer.corpus().tokenizer, numbers(values));
  trainer.set_weights(values);
  return initial;
}

void describe(const InitialWeights& initial, const std::string& file) {
  if (!initial.verified) spdlog::warn("warning: {} carries no checksum: it could not be verified", file);
  if (initial.has_vocabulary) {
    spdlog::info(
        "rows of token_emb and lm matched by character: {} are the file's, {} new characters start fresh, {} "
        "of the file's are not in the data",
        initial.taken, initial.fresh, initial.left_out);
  } else {
    spdlog::info("{} carries no vocabulary: its {} rows were taken as the data's characters in order", file,
                 initial.taken);
  }
}

/// A number of steps below those done is a mistake, most often one that was meant as steps to add.
void require_steps_left(const Trainer& trainer, const RunPaths& paths) {
  if (trainer.steps_done() <= trainer.total_steps()) return;
  throw Error(ExitCode::usage,
              fmt::format("{} has done {} steps, and the config asks for {} in all: set train.steps (or train.epochs) "
                          "to what the run should have at its end, or start another run with another --out",
                          paths.root, trainer.steps_done(), trainer.total_steps()));
}

/// Continues from a checkpoint if that is asked for and there is one; else the run begins at step 0.
RunProgress start(const Request& request, const RunPaths& paths, Trainer& trainer,
                  const std::optional<InitialWeights>& initial) {
  const auto warn = [](const std::string& message) { spdlog::warn("warning: {}", message); };
  const DataChange data_change = request.allow_data_change ? DataChange::allowed : DataChange::refused;
  const auto restored = request.resume ? restore_checkpoint(paths, trainer, warn, data_change) : std::nullopt;
  require_steps_left(trainer, paths);
  if (restored) {
    spdlog::info("resuming {} at step {} of {}: weights, optimizer and place in the data from {}", paths.root,
                 trainer.steps_done(), trainer.total_steps(), paths.checkpoint(trainer.steps_done()));
  } else if (initial) {
    spdlog::info("starting {} at step 0 of {} with the weights of {} and a fresh optimizer", paths.root,
                 trainer.total_steps(), request.init);
    describe(*initial, request.init);
    save_checkpoint(paths, trainer, {});  // a resume from before the first save must not begin with other weights
  } else {
    spdlog::info("starting {} at step 0 of {} with new weights (seed {})", paths.root, trainer.total_steps(),
                 trainer.config().run.seed);
  }
  for (const std::string& note : request.notes) spdlog::info("{}", note);
  return restored.value_or(RunProgress{});
}

RunEvents make_events(const Config& config, StopRule& stop_rule, Progress& progress, const RunPaths& paths) {
  RunEvents events;
  if (config.run.tensorboard) {
    events.record = [log = std::make_shared<EventLog>(paths.metrics(), paths.tensorboard())](const Json& record) {
      log->add(record);
    };
  }
  events.stopped = [&stop_rule] { return stop_rule.stopped(); };
  events.step = [&progress](const StepReport& report, double smoothed) {
    progress.step(report, smoothed);
    if (!report.skipped) return;
    progress.clear();
    spdlog::warn("warning: step {} was skipped: loss {}, gradient norm {}, learning rate {}", report.step, report.loss,
                 report.gradient_norm, report.learning_rate);
  };
  events.evaluation = [&config, &progress](std::int64_t step, const Evaluation& evaluation, bool best) {
    progress.clear();
    progress.validation(evaluation.nats_per_char());
    const bool estimate = config.eval.mode == EvalMode::random;
    spdlog::info("step {}: validation loss {:.6f}{} ({:.4f} bits per character){}", step, evaluation.nats_per_char(),
                 estimate ? fmt::format(" +- {:.6f}", evaluation.standard_error()) : "", evaluation.bits_per_char(),
                 best ? ", the best so far" : "");
  };
  events.sample = [&progress](std::int64_t step, const std::string& text) {
    progress.clear();
    spdlog::info("step {}: sample: {}", step, text);
  };
  events.checkpoint = [&progress, &paths](std::int64_t step) {
    progress.clear();
    spdlog::info("step {}: saved {}", step, paths.checkpoint(step));
  };
  return events;
}

/// What ended or interrupted a run; null: it has done all its steps.
Json stopped_by(const RunResult& result, int stop_signal) {
  switch (result.end) {
    case RunEnd::all_steps:
      return nullptr;
    case RunEnd::target_loss:
    case RunEnd::patience:
      return name(result.end);
    case RunEnd::interrupted:
      return stop_signal == 0 ? "max_seconds" : "signal";
  }
  return nullptr;
}

/// What the last line but one says of the run's end.
std::string describe_end(const RunResult& result, const TrainConfig& train) {
  switch (result.end) {
    case RunEnd::all_steps:
      return "finished";
    case RunEnd::target_loss:
      return fmt::format("finished (the validation loss reached train.target_loss {})", train.target_loss);
    case RunEnd::patience:
      return fmt::format("finished ({} evaluations without a new best: train.patience)", train.patience);
    case RunEnd::interrupted:
      return "stopped and saved";
  }
  return {};
}

Json result_json(const RunResult& result, const RunPaths& paths, const Progress& progress, int stop_signal) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json json = {{"v", 1}};
  json["run"] = paths.root;
  json["step"] = result.step;
  json["finished"] = result.finished();
  json["stopped"] = stopped_by(result, stop_signal);
  json["last_loss"] = or_null(result.last_loss);
  json["best_loss"] = or_null(result.progress.best_loss);
  json["best_step"] = or_null(result.progress.best_step);
  json["chars_per_second"] = progress.chars_per_second();
  return json;
}

void report(const RunResult& result, const RunPaths& paths, const Progress& progress, const TrainConfig& train) {
  spdlog::info("{} at step {}, {} chars/s; written to {}", describe_end(result, train), result.step,
               format_count(progress.chars_per_second()), paths.root);
  if (result.finished() && result.last_loss)
    spdlog::info("last: validation loss {:.6f} at step {}", *result.last_loss, result.step);
  if (result.progress.best_loss) {
    spdlog::info("best: validation loss {:.6f} at step {}", *result.progress.best_loss, *result.progress.best_step);
  }
  if (!result.finished()) spdlog::info("to continue: chargpt train --resume {}", paths.root);
}

/// Other data that a run may go on with is read with the run's vocabulary.
Corpus load_data(const Request& request, const RunPaths& paths) {
  PreparationLine line(request.color, request.verbosity < 0);
  const PreparationEvents events = line.events([&] { return request.stop_signal->load() != 0; });
  const auto ignore = [](const std::string&) {};  // restore_checkpoint warns
  const bool other = request.resume && request.allow_data_change;
  const auto newest = other ? newest_sound_checkpoint(paths.checkpoints(), ignore) : std::nullopt;
  if (!newest) return load_corpus(request.config, events);
  const ModelFile model(paths.checkpoint(newest->step) + "/" + kModelFileName);
  return load_corpus(request.config, model.tokenizer(), events);
}

/// The config with what only this machine and data decide settled. `available`: bytes of memory.
Config settled(const Request& request, const Corpus& corpus, const ChosenDevice& device, std::int64_t available) {
  Config config = request.config;
  if (config.train.micro_batch) return config;
  config.train.micro_batch = choose_micro_batch(config, corpus.tokenizer.size(), device.device, available);
  spdlog::info("train.micro_batch auto: {} windows a pass, for {} MiB of free memory", config.train.windows_per_pass(),
               available >> 20);
  return config;
}

/// Memory that runs out may end the process without a word: the kernel then kills it.
void warn_of_memory(const Config& config, const Corpus& corpus, const ChosenDevice& device, std::int64_t available) {
  const std::int64_t windows = config.train.windows_per_pass();
  const std::int64_t needed = training_memory(config, corpus.tokenizer.size(), device.device, windows);
  if (needed <= available) return;
  spdlog::warn(
      "warning: training will take about {} MiB of memory, {} MiB are free: lower train.micro_batch (\"auto\" fits it "
      "to "
      "the memory), train.batch or the model's size",
      needed >> 20, available >> 20);
}

}  // namespace

int train_command(const Request& request) {
  keep_freed_memory();
  const RunPaths paths(request.run_folder);
  const int threads = set_threads(request.config.run.threads);
  const ChosenDevice device = choose_device(request.config.run.device);
  set_tf32(request.config.run.tf32, device);
  std::optional<Corpus> read;
  if (request.corpus == nullptr) read.emplace(load_data(request, paths));
  const Corpus& corpus = read ? *read : *request.corpus;
  const std::int64_t available = free_memory(device.device);
  const Config config = settled(request, corpus, device, available);
  require_room(config, corpus.tokenizer.size(), available);
  // A dry run reports what does not fit.
  const bool reports = request.dry_run && !request.check_only;
  if (!reports) require_room_for_pass(config, corpus.tokenizer.size(), device.device, available);
  warn_of_memory(config, corpus, device, available);
  Trainer trainer(config, corpus, device.device);
  std::optional<InitialWeights> initial;  // read before an old run is removed: a bad file costs nothing
  if (!request.init.empty()) initial = take_initial_weights(request.init, trainer);
  if (request.check_only) return 0;
  if (request.dry_run) return dry_run(request, trainer, available);
  if (request.overwrite) remove_run(paths);
  log_to_file(paths);
  const RunProgress before = start(request, paths, trainer, initial);
  write_file_atomically(paths.config(), to_json(config).dump(2) + "\n");
  describe(trainer, device, threads);

  Progress progress({trainer.total_steps(), config.train.batch * config.model.context, config.train.log_every,
                     request.color && request.verbosity >= 0, request.verbosity < 0});
  StopRule stop_rule(*request.stop_signal, request.deadline);
  const RunResult result = run_training(trainer, paths, before, make_events(config, stop_rule, progress, paths));
  const int stop_signal = request.stop_signal->load();
  progress.clear();
  report(result, paths, progress, config.train);
  if (request.json) write_output(to_json_line(result_json(result, paths, progress, stop_signal)) + "\n");
  return result.finished() || stop_signal == 0 ? 0 : 128 + stop_signal;
}

}  // namespace chargpt
