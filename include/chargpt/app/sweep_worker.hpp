#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/sweep_folder.hpp"

namespace chargpt {

/// A process that trains the runs of a sweep one after another, so that LibTorch is loaded once. It is in a process
/// group of its own: a terminal's Ctrl-C reaches this process, which passes it on. It does not outlive this process.
class SweepWorker {
 public:
  /// How its process is started.
  struct Setup {
    std::vector<int> processors;  ///< those that it may use; empty: all that this process may
    std::string gpu;              ///< the only one that it sees, as CUDA_VISIBLE_DEVICES names it; empty: all
    bool verbose = false;         ///< runs say more, as with train --verbose
  };

  /// The process knows `runs` as they are now. Error(internal) when the system grants no more processes.
  SweepWorker(const SweepPaths& paths, const std::vector<SweepRun>& runs, const Setup& setup);
  SweepWorker(SweepWorker&& other) noexcept;
  SweepWorker(const SweepWorker&) = delete;
  SweepWorker& operator=(const SweepWorker&) = delete;
  SweepWorker& operator=(SweepWorker&&) = delete;
  ~SweepWorker();  ///< kills the process

  void check(std::size_t run);                             ///< of an idle worker: whether this machine can do runs[run]
  void start(std::size_t run);                             ///< of an idle worker: trains runs[run], or goes on with it
  std::optional<std::size_t> run() const { return run_; }  ///< nothing while idle
  void stop() const;                                       ///< has the run save and end with 128 + SIGTERM

  /// What poll() is to wait on: what the run says, and its end.
  std::vector<int> descriptors() const { return {messages_, results_}; }
  /// Takes what the run has said since. Once it has ended: its exit code, and the worker is idle; 128 + n when signal n
  /// ended the process, which is dead then.
  std::optional<int> take();
  bool dead() const { return pid_ < 0; }
  std::vector<std::string> last_lines() const;  ///< of what the run has said, at most 20

 private:
  void order(std::size_t run, bool check_only);
  void take_messages();
  int wait_for_end();

  pid_t pid_;
  int orders_, results_, messages_;  ///< ends of pipes
  std::optional<std::size_t> run_;
  std::string said_;
};

}  // namespace chargpt
