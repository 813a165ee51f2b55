#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/sweep_plan.hpp"

namespace chargpt {

/// How a run of a sweep ended, when it ended for good: DIR/outcomes/NAME.json.
struct SweepOutcome {
  std::string content;             ///< the run's
  int exit_code = 0;               ///< 0: finished; 128 + n: its process was killed by signal n
  std::vector<std::string> lines;  ///< the last that it said, where it failed
};

/// Names inside a sweep's folder.
struct SweepPaths {
  explicit SweepPaths(std::string folder) : root(std::move(folder)) {}
  std::string root;
  std::string plan() const { return root + "/sweep.json"; }
  std::string plan_lock() const { return root + "/sweep.lock"; }
  std::string outcomes() const { return root + "/outcomes"; }
  std::string outcome(const SweepRun& run) const { return outcomes() + "/" + run.name + ".json"; }
  std::string run(const SweepRun& run) const { return root + "/" + run.name; }
};

/// Names the runs as name_runs() does, by the plan in the folder, if there is one and it has a name; returns the runs
/// of that plan. Errors: unusable_model (a damaged plan).
std::vector<SweepRun> name_by_plan(const SweepPaths& paths, std::vector<SweepRun>& runs);

/// Names the runs and notes them in DIR/sweep.json, which holds every run that was ever planned there, so that names
/// last. The known runs' data is taken to have moved with that of those which are met again. Two processes may do this
/// at once. Errors: unusable_model (a damaged file), cannot_create, io.
void note_plan(const SweepPaths& paths, std::vector<SweepRun>& runs);

/// All runs of DIR/sweep.json. Errors: no_input without one, unusable_model.
std::vector<SweepRun> read_plan(const SweepPaths& paths);

/// Nothing while the run has not ended. What cannot be read, or is of other content, counts as nothing.
std::optional<SweepOutcome> read_outcome(const SweepPaths& paths, const SweepRun& run);
/// Whether there is nothing left to do: the run finished or diverged, and its folder is there. One that failed
/// otherwise may do better another time.
bool has_ended(const SweepPaths& paths, const SweepRun& run);
/// Of a run that is begun again.
void remove_outcome(const SweepPaths& paths, const SweepRun& run);
/// Error(cannot_create, io).
void write_outcome(const SweepPaths& paths, const SweepRun& run, const SweepOutcome& outcome);

}  // namespace chargpt
