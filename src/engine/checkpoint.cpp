#include "chargpt/engine/checkpoint.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/version.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/kernels/instruction_set.hpp"

namespace chargpt {
namespace {

/// What may change the last bit of a result.
Json describe_build(const Config& config) {
  Json build;
  build["version"] = version();
  build["compiler"] = __VERSION__;
  build["libtorch"] = TORCH_VERSION;
  build["instruction_set"] = kernel_instruction_set(config.run.precision);
  build["libtorch_instruction_set"] = at::get_cpu_capability();
  build["threads"] = at::get_num_threads();
  return build;
}

void save_state(CheckpointWriter& writer, Trainer& trainer, Manifest& manifest) {
  const auto names = optimizer_state(trainer.config().optimizer);
  if (names.empty()) return;
  const ParameterLayout& layout = trainer.model()->flat().layout();
  std::vector<torch::Tensor> buffers;
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < names.size(); ++i) {
    buffers.push_back(trainer.optimizer().state()[i].cpu());
    for (auto& view : parameter_views(layout, numbers(buffers.back()), names[i] + "."))
      views.push_back(std::move(view));
  }
  manifest.files[kOptimizerFileName] =
      write_safetensors(writer.path(kOptimizerFileName), views, {{"format", "chargpt-optimizer"}, {"version", "1"}});
}

void save_average(CheckpointWriter& writer, Trainer& trainer, Manifest& manifest) {
  if (!trainer.average()) return;
  const torch::Tensor values = trainer.average()->values().cpu();
  manifest.files[kAverageFileName] = write_model_file(writer.path(kAverageFileName), trainer.model()->config(),
                                                      trainer.corpus().tokenizer, numbers(values));
}

/// Nothing if the data is the checkpoint's.
std::optional<std::string> data_difference(const RunPaths& paths, const Manifest& manifest, const Corpus& corpus) {
  if (manifest.data == corpus.fingerprint) return std::nullopt;
  return fmt::format(
      "the data differs from the checkpoint's ({}): {} bytes with XXH3-128 {}, the checkpoint was trained on {} bytes "
      "with {}",
      paths.checkpoint(manifest.step), corpus.fingerprint.bytes, corpus.fingerprint.hash, manifest.data.bytes,
      manifest.data.hash);
}

/// Then the layout of the parameters is the same too.
void require_same_model(const ModelFile& file, Trainer& trainer) {
  const Tokenizer& tokenizer = trainer.corpus().tokenizer;
  if (file.tokenizer() != tokenizer) {
    throw Error(ExitCode::bad_data, fmt::format("{}: its vocabulary of {} is not the one of the data, which has {}",
                                                file.path(), file.tokenizer().size(), tokenizer.size()));
  }
  const auto sizes = [](const ModelConfig& model) {
    return fmt::format("{} layers, {} heads, width {}, context {}, tied_head {}, bias {}", model.layers, model.heads,
                       model.width, model.context, model.tied_head, model.bias);
  };
  const std::string stored = sizes(file.config()), wanted = sizes(trainer.config().model);
  if (stored == wanted) return;
  throw Error(ExitCode::usage, fmt::format("{}: its model has {}; the config wants {}", file.path(), stored, wanted));
}

/// Another optimizer has no use for the state of the checkpoint's.
void require_same_optimizer(const Manifest& manifest, const Trainer& trainer, const std::string& folder) {
  const OptimizerConfig stored = config_from_json(manifest.config, folder).optimizer;
  const OptimizerConfig& wanted = trainer.config().optimizer;
  if (optimizer_state(stored) == optimizer_state(wanted)) return;
  throw Error(
      ExitCode::usage,
      fmt::format("{}: its optimizer is {} (optimizer.momentum {}); the config wants {} (optimizer.momentum {})",
                  folder, name(stored.name), stored.momentum, name(wanted.name), wanted.momentum));
}

/// What is saved can be loaded: a loader refuses numbers that are not finite.
void require_finite(Trainer& trainer) {
  std::vector<torch::Tensor> all = trainer.optimizer().state();
  all.push_back(trainer.model()->flat().values());
  if (trainer.average()) all.push_back(trainer.average()->values());
  for (const torch::Tensor& numbers : all) {
    if (at::isfinite(numbers).all().item<bool>()) continue;
    throw Error(ExitCode::diverged,
                fmt::format("diverged by step {}: a weight or a moment of the optimizer is not finite, so that nothing "
                            "is saved; lower optimizer.learning_rate or set optimizer.clip",
                            trainer.steps_done()));
  }
}

/// What `copy` writes to the host, brought to where `target` lies.
template <typename Copy>
void fill(const torch::Tensor& target, Copy copy) {
  const torch::Tensor staged = torch::empty({target.numel()}, torch::kFloat);
  copy(numbers(staged));
  const torch::NoGradGuard no_grad;
  target.copy_(staged);
}

void restore_state(const std::string& path, Trainer& trainer) {
  const auto names = optimizer_state(trainer.config().optimizer);
  if (names.empty()) return;
  const SafetensorsFile file(path);
  for (std::size_t i = 0; i < names.size(); ++i) {
    fill(trainer.optimizer().state()[i],
         [&](auto values) { copy_parameters(file, trainer.model()->flat().layout(), names[i] + ".", values); });
  }
}

}  // namespace

void save_checkpoint(const RunPaths& paths, Trainer& trainer, const RunProgress& progress) {
  require_finite(trainer);
  CheckpointWriter writer(paths.checkpoints(), trainer.steps_done());
  Manifest manifest;
  manifest.step = trainer.steps_done();
  manifest.files[kModelFileName] = save_model(writer.path(kModelFileName), trainer.model(), trainer.corpus().tokenizer);
  save_average(writer, trainer, manifest);
  save_state(writer, trainer, manifest);
  manifest.config = to_json(trainer.config());
  const Corpus& corpus = trainer.corpus();
  manifest.data = corpus.fingerprint;
  manifest.parts = {corpus.train.size(), corpus.val.size(), corpus.test.size()};
  manifest.build = describe_build(trainer.config());
  manifest.best_step = progress.best_step;
  manifest.best_loss = progress.best_loss;
  manifest.evaluations_since_best = progress.evaluations_since_best;
  manifest.smoothed_loss = progress.smoothed_loss;
  manifest.acts_pending = progress.acts_pending;
  writer.commit(manifest);
  if (progress.best_step) write_best(paths.checkpoints(), *progress.best_step);
  prune_checkpoints(paths.checkpoints(), trainer.config().train.keep, progress.best_step);
}

std::optional<RunProgress> restore_checkpoint(const RunPaths& paths, Trainer& trainer,
                                              const std::function<void(const std::string&)>& warn,
                                              DataChange data_change) {
  const auto manifest = newest_sound_checkpoint(paths.checkpoints(), warn);
  if (!manifest) return std::nullopt;
  if (const auto difference = data_difference(paths, *manifest, trainer.corpus())) {
    if (data_change == DataChange::refused) {
      throw Error(ExitCode::bad_data, *difference + "; give the same data, another --out, or --allow-data-change");
    }
    warn(*difference);
  }
  const std::string folder = paths.checkpoint(manifest->step) + "/";
  const FlatParameters& flat = trainer.model()->flat();
  const ModelFile model(folder + kModelFileName);
  require_same_model(model, trainer);
  fill(flat.values(), [&](auto values) { model.copy_values(values); });
  if (trainer.average()) {
    const ModelFile average(folder + kAverageFileName);
    require_same_model(average, trainer);
    fill(trainer.average()->values(), [&](auto values) { average.copy_values(values); });
  }
  require_same_optimizer(*manifest, trainer, paths.checkpoint(manifest->step));
  restore_state(folder + kOptimizerFileName, trainer);
  trainer.optimizer().set_steps(manifest->step);
  if (manifest->build != describe_build(trainer.config())) {
    warn(
        fmt::format("the checkpoint was made by another build or setting, so that the last bits of results may differ: "
                    "{} then, {} now",
                    manifest->build.dump(), describe_build(trainer.config()).dump()));
  }
  return RunProgress{manifest->best_step, manifest->best_loss, manifest->evaluations_since_best,
                     manifest->smoothed_loss, manifest->acts_pending};
}

}  // namespace chargpt
