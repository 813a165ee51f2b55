#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "chargpt/base/sweep_folder.hpp"

namespace chargpt {

/// How the runs of a sweep are done.
struct SweepOptions {
  int workers = 1;
  std::int64_t threads = 1;  ///< that a run takes at most
  bool fail_fast = false;
  bool live = false, quiet = false, verbose = false;
  const std::atomic<int>* stop_signal = nullptr;  ///< number of the signal that asked for a stop, 0 while none did
};

/// How many runs of a sweep ended in which way, those that had ended before among them.
struct SweepReport {
  std::size_t runs = 0, finished = 0, failed = 0, stopped = 0;  ///< stopped: saved, or not begun
  std::optional<int> last_failure;                              ///< an exit code
};

/// Tries one of each kind of the runs that have not ended as far as its first step, but for the kind that every machine
/// can do; writes nothing. Error, of the run's own kind, when this machine lacks what a run asks for: a device, a
/// precision, cores to bind threads to, memory.
void check_machine(const SweepPaths& paths, const std::vector<SweepRun>& runs);

/// Trains the runs that have not ended yet, each from where it stands, and notes how each ended. A run has ended for
/// good when it finished or diverged; one that failed otherwise is tried again. A run whose worker dies goes on in
/// another, unless that happens three times without a new checkpoint. A signal, and the first failure with fail_fast,
/// have the runs in progress save and stop.
SweepReport run_sweep_plan(const SweepPaths& paths, const std::vector<SweepRun>& runs, const SweepOptions& options);

}  // namespace chargpt
