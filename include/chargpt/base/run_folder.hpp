#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "chargpt/base/checkpoint_folder.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {

/// Names inside a run folder.
struct RunPaths {
  explicit RunPaths(std::string folder) : root(std::move(folder)) {}
  std::string root;
  std::string config() const { return root + "/config.json"; }
  std::string metrics() const { return root + "/metrics.jsonl"; }
  std::string log() const { return root + "/log.txt"; }
  std::string lock() const { return root + "/lock"; }
  std::string tensorboard() const { return root + "/tensorboard"; }
  std::string checkpoints() const { return root + "/checkpoints"; }
  std::string checkpoint(std::int64_t step) const { return checkpoints() + "/" + checkpoint_name(step); }
};

/// The run folder holds a run of ours (its config.json exists).
bool is_run_folder(const std::string& folder);

/// Removes what a run wrote: checkpoints, config, metrics, event files and log. Foreign files stay. Error(io).
void remove_run(const RunPaths& paths);

/// Held while a process trains into a folder: an advisory lock (flock) on DIR/lock, which the kernel drops when the
/// process ends however it ends. The file says pid, host and start time of its holder. Creates the folder if it is
/// missing.
class RunLock {
 public:
  /// Error(locked) naming the holder; Error(cannot_create).
  explicit RunLock(const std::string& run_folder);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  RunLock(RunLock&& other) noexcept;
  ~RunLock();

 private:
  int descriptor_;
};

/// Appends one JSON object a line to metrics.jsonl. Every record gets "v": 1 first.
class MetricsLog {
 public:
  using Observer = std::function<void(const Json& record)>;

  /// Continues an existing file: records with "step" above `last_step`, the one of an "end" and a torn last line are
  /// dropped. `appended` is told of each new record once it is in the file. Errors: cannot_create, io.
  MetricsLog(std::string path, std::int64_t last_step, Observer appended = {});
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;
  ~MetricsLog();
  /// One write() call a record. Error(io).
  void append(const Json& record);

 private:
  std::string path_;
  Observer appended_;
  int descriptor_;
};

}  // namespace chargpt
