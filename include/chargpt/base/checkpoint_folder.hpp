#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/safetensors.hpp"

namespace chargpt {

// The files of a checkpoint besides its manifest. The average of the weights is a model file too, there where train.ema
// is on; the optimizer's is there where it has a state.
inline constexpr const char* kModelFileName = "model.safetensors";
inline constexpr const char* kAverageFileName = "ema.safetensors";
inline constexpr const char* kOptimizerFileName = "optimizer.safetensors";

/// What an optimizer keeps for each parameter, as its tensors are named before a dot and the parameter's name.
std::vector<std::string> optimizer_state(const OptimizerConfig& optimizer);

/// Ids of each part of a corpus, marks included.
struct PartSizes {
  std::int64_t train, val, test;
  bool operator==(const PartSizes&) const = default;
};

/// What a checkpoint says of itself besides its tensors; manifest.json, version 1. The file's last member is the
/// XXH3-128 of the text before it, so that no damage to the manifest itself passes.
struct Manifest {
  std::int64_t step = 0;                     ///< optimizer steps done
  std::map<std::string, WrittenFile> files;  ///< every file of the folder but the manifest
  Json config;                               ///< resolved config of the run
  Fingerprint data;
  std::optional<PartSizes> parts;         ///< how the data was split; early manifests do not tell
  Json build;                             ///< version, compiler, libtorch, instruction set, threads
  std::optional<std::int64_t> best_step;  ///< with the best validation loss so far
  std::optional<double> best_loss;        ///< nats per character
  std::int64_t evaluations_since_best = 0;
  double smoothed_loss = 0;   ///< state of the progress display
  bool acts_pending = false;  ///< stopped after the step but before its evaluation and sample

  Json to_json() const;
  static Manifest from_json(const Json& json, const std::string& source);  ///< Error(unusable_model)
};

/// Writes DIR/step-00000123 with one commit point: files go to a temporary folder, the manifest last, all synced, then
/// one rename. A writer that is destroyed before commit() removes its temporary folder.
class CheckpointWriter {
 public:
  CheckpointWriter(std::string checkpoints_dir, std::int64_t step);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter();
  std::string path(const std::string& file) const;  ///< where to write a file of the checkpoint
  /// An existing checkpoint of the same step is replaced. Errors: io, cannot_create.
  void commit(const Manifest& manifest);

 private:
  std::string checkpoints_dir_;
  std::string temporary_;
  std::int64_t step_;
};

std::string checkpoint_name(std::int64_t step);  ///< "step-00000123"
/// Steps of the checkpoints in a folder, sound or not, ascending; empty if the folder does not exist. Foreign names are
/// ignored.
std::vector<std::int64_t> list_checkpoints(const std::string& checkpoints_dir);
/// A checkpoint's manifest, itself checked, its files not looked at. Error(unusable_model) naming file and reason, also
/// where the folder has another step's name; no_input for a checkpoint that is not there.
Manifest read_manifest(const std::string& checkpoint_dir);
/// Reads a checkpoint's manifest and checks every file's size and checksum. Error(unusable_model) naming file and
/// reason.
Manifest verify_checkpoint(const std::string& checkpoint_dir);
/// The same for one of its files. A file that the manifest does not name is Error(unusable_model).
void verify_checkpoint_file(const std::string& checkpoint_dir, const std::string& name);
/// Of the newest checkpoint that verify_checkpoint finds sound; nothing where there is none at all. `warn` is told of
/// those that are passed over. Error(unusable_model) if none of them is sound.
std::optional<Manifest> newest_sound_checkpoint(const std::string& checkpoints_dir,
                                                const std::function<void(const std::string&)>& warn);
/// Removes all checkpoints older than the newest `keep` sound ones, except `best`; and our own temporary folders. With
/// fewer sound ones nothing is removed. Foreign files stay.
void prune_checkpoints(const std::string& checkpoints_dir, std::int64_t keep, std::optional<std::int64_t> best);

/// The small file DIR/best. write: replaced atomically. read: nothing if there is none; Error(unusable_model) if it is
/// damaged.
void write_best(const std::string& checkpoints_dir, std::int64_t step);
std::optional<std::int64_t> read_best(const std::string& checkpoints_dir);

}  // namespace chargpt
