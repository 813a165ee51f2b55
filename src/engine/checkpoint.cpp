#include "chargpt/engine/checkpoint.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/version.hpp"
#include "chargpt/engine/model_file.hpp"

namespace chargpt {
namespace {

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kFirstMoment = "first_moment.";
constexpr const char* kSecondMoment = "second_moment.";

/// What may change the last bit of a result.
Json describe_build() {
  Json build;
  build["version"] = version();
  build["compiler"] = __VERSION__;
  build["libtorch"] = TORCH_VERSION;
  build["instruction_set"] = at::get_cpu_capability();
  build["threads"] = at::get_num_threads();
  return build;
}

WrittenFile save_moments(const std::string& path, Trainer& trainer) {
  const FlatParameters& flat = trainer.model()->flat();
  const torch::Tensor first = trainer.optimizer().first_moment().cpu();
  const torch::Tensor second = trainer.optimizer().second_moment().cpu();
  auto views = tensor_views(flat, first, kFirstMoment);
  for (auto& view : tensor_views(flat, second, kSecondMoment)) views.push_back(std::move(view));
  return write_safetensors(path, views, {{"format", "chargpt-optimizer"}, {"version", "1"}});
}

/// The newest checkpoint whose files are what its manifest says.
std::optional<Manifest> newest_sound(const RunPaths& paths, const std::function<void(const std::string&)>& warn) {
  const auto steps = list_checkpoints(paths.checkpoints());
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      return verify_checkpoint(paths.checkpoint(*step));
    } catch (const Error& error) {
      warn(fmt::format("unsound checkpoint passed over: {}", error.what()));
    }
  }
  if (steps.empty()) return std::nullopt;
  throw Error(ExitCode::unusable_model, fmt::format("{}: none of its {} checkpoints is sound; --overwrite starts anew",
                                                    paths.checkpoints(), steps.size()));
}

void require_same_data(const RunPaths& paths, const Manifest& manifest, const Corpus& corpus) {
  if (manifest.data == corpus.fingerprint) return;
  throw Error(
      ExitCode::bad_data,
      fmt::format(
          "the data differs from the checkpoint's ({}): {} bytes with XXH3-128 {}, the checkpoint was trained on {} "
          "bytes with {}; give the same data, or another --out",
          paths.checkpoint(manifest.step), corpus.fingerprint.bytes, corpus.fingerprint.hash, manifest.data.bytes,
          manifest.data.hash));
}

void require_same_vocabulary(const SafetensorsFile& file, const Tokenizer& tokenizer) {
  if (model_vocabulary(file) == tokenizer) return;
  throw Error(ExitCode::bad_data, fmt::format("{}: its vocabulary is not the one of the data", file.path()));
}

}  // namespace

void save_checkpoint(const RunPaths& paths, Trainer& trainer, const RunProgress& progress) {
  CheckpointWriter writer(paths.checkpoints(), trainer.steps_done());
  Manifest manifest;
  manifest.step = trainer.steps_done();
  manifest.files[kModelFile] = save_model(writer.path(kModelFile), trainer.model(), trainer.corpus().tokenizer);
  manifest.files[kOptimizerFile] = save_moments(writer.path(kOptimizerFile), trainer);
  manifest.config = to_json(trainer.config());
  manifest.data = trainer.corpus().fingerprint;
  manifest.build = describe_build();
  manifest.best_step = progress.best_step;
  manifest.best_loss = progress.best_loss;
  manifest.smoothed_loss = progress.smoothed_loss;
  manifest.acts_pending = progress.acts_pending;
  writer.commit(manifest);
  if (progress.best_step) write_best(paths.checkpoints(), *progress.best_step);
  prune_checkpoints(paths.checkpoints(), trainer.config().train.keep, progress.best_step);
}

std::optional<RunProgress> restore_checkpoint(const RunPaths& paths, Trainer& trainer,
                                              const std::function<void(const std::string&)>& warn) {
  const auto manifest = newest_sound(paths, warn);
  if (!manifest) return std::nullopt;
  require_same_data(paths, *manifest, trainer.corpus());
  const std::string folder = paths.checkpoint(manifest->step) + "/";
  FlatParameters& flat = trainer.model()->flat();
  const SafetensorsFile model(folder + kModelFile);
  require_same_vocabulary(model, trainer.corpus().tokenizer);
  read_weights(model, trainer.model());
  const SafetensorsFile moments(folder + kOptimizerFile);
  read_flat(moments, flat, kFirstMoment, trainer.optimizer().first_moment());
  read_flat(moments, flat, kSecondMoment, trainer.optimizer().second_moment());
  trainer.optimizer().set_steps(manifest->step);
  if (manifest->build != describe_build()) {
    warn(
        fmt::format("the checkpoint was made by another build or setting, so that the last bits of results may differ: "
                    "{} then, {} now",
                    manifest->build.dump(), describe_build().dump()));
  }
  return RunProgress{manifest->best_step, manifest->best_loss, manifest->smoothed_loss, manifest->acts_pending};
}

}  // namespace chargpt
