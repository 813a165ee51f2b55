#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/grid.hpp"

namespace chargpt {

/// One run of a sweep.
struct SweepRun {
  std::string name;     ///< of its folder in the sweep's folder
  std::string content;  ///< XXH3-128 of what the run is: its config, but for what changes no result, and the data
  Config config;        ///< resolved
  std::int64_t vocabulary = 0;  ///< symbols
  std::int64_t windows = 0;     ///< training windows, those of one epoch
  /// The data in memory, shared by all runs that read it alike. Nothing for runs that were not planned by this process,
  /// and where a plan would hold more than a GiB.
  std::shared_ptr<const Corpus> corpus{};

  std::int64_t parameters() const;
  std::int64_t steps() const;  ///< to its end
  double characters() const;   ///< trained on, from its start to its end
  double operations() const;   ///< estimate of the floating-point operations of its steps
  double most_memory() const;  ///< bytes that its training surely fits into, if need be several times what it takes
  std::int64_t disk_bytes() const;  ///< estimate for its folder, as large as it gets
};

/// The runs that a grid makes of a base config: each point over the base, repeated with run.seed + 0 ... seeds - 1,
/// equal ones once, at their first place. Every run is checked, and its data read, before any of them can start.
/// They are without names. Errors: as config_from_json, check_rules, load_corpus and check_schedule, and usage for data
/// from standard input, which can be read but once; with `source`, which names the grid, and the point's number and
/// values before the message.
std::vector<SweepRun> plan_runs(const Config& base, const Grid& grid, const std::string& source);

/// The keys whose values differ among the runs, in the order of the keys.
std::vector<std::string> varied_keys(const std::vector<SweepRun>& runs);

/// The value of a key in a config, as JSON.
Json value_of(const Config& config, const std::string& key);

/// Names the runs by what varies among them and those known: "width=64,learning_rate=0.001,seed=1". The section is left
/// out where the key's last part tells it; characters that are not safe in a file name become "_"; a name that would be
/// longer than 160 bytes, or that another run has, ends with a part of the content instead. A run whose content is
/// among `known` keeps the name that it has there. Alone, a run is named "run".
void name_runs(std::vector<SweepRun>& runs, const std::vector<SweepRun>& known);

}  // namespace chargpt
