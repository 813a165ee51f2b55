#include "chargpt/base/sweep_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/run_folder.hpp"
#include "descriptor.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr std::size_t kMaxValues = 4'000'000;  // of kMaxSweepRuns configs

/// Held while the plan is read and written; waits for another process that holds it.
Descriptor lock_plan(const SweepPaths& paths) {
  Descriptor lock = open_output(paths.plan_lock(), O_RDWR);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      throw Error(ExitCode::cannot_create, fmt::format("cannot lock {}: {}", paths.plan_lock(), reason(errno)));
    }
  }
  return lock;
}

Json plan_entry(const SweepRun& run) {
  return {{"name", run.name},
          {"content", run.content},
          {"vocabulary", run.vocabulary},
          {"windows", run.windows},
          {"config", to_json(run.config)}};
}

SweepRun run_from_json(const Json& json, const std::string& source) {
  SweepRun run;
  run.name = json.at("name").get<std::string>();
  run.content = json.at("content").get<std::string>();
  run.vocabulary = json.at("vocabulary").get<std::int64_t>();
  run.windows = json.at("windows").get<std::int64_t>();
  run.config = config_from_json(json.at("config"), source);
  const bool safe = !run.name.empty() && run.name.front() != '.' && run.name.find('/') == std::string::npos;
  if (!safe) throw Error(ExitCode::unusable_model, fmt::format("{} is no name of a run", shown(run.name)));
  return run;
}

std::vector<SweepRun> parse_plan(const std::string& path) {
  try {
    const Json json = parse_json(read_file(path), {.source = path, .max_values = kMaxValues});
    if (json.at("version") != kVersion) {
      throw Error(ExitCode::unusable_model,
                  fmt::format("version {}, this program reads {}", json["version"].dump(), kVersion));
    }
    std::vector<SweepRun> runs;
    for (const Json& run : json.at("runs")) runs.push_back(run_from_json(run, path));
    return runs;
  } catch (const std::exception& error) {
    throw Error(ExitCode::unusable_model,
                fmt::format("{} is not the plan of a sweep ({}): mend it, or give another --out", path, error.what()));
  }
}

using DataPaths = std::array<std::string, 3>;

DataPaths data_paths(const SweepRun& run) {
  return {run.config.data.path, run.config.data.val_path, run.config.data.test_path};
}

/// Where some of the known runs are met again with their data in another place, the others' lies there too. The place
/// would else pass for something that varies.
void follow_data(std::vector<SweepRun>& known, const std::vector<SweepRun>& runs) {
  std::map<std::string, DataPaths> places;
  for (const SweepRun& run : runs) places.emplace(run.content, data_paths(run));
  std::map<DataPaths, DataPaths> moved;
  for (const SweepRun& run : known) {
    const auto place = places.find(run.content);
    if (place != places.end()) moved.emplace(data_paths(run), place->second);
  }
  for (SweepRun& run : known) {
    const auto to = moved.find(data_paths(run));
    if (to != moved.end())
      std::tie(run.config.data.path, run.config.data.val_path, run.config.data.test_path) =
          std::tie(to->second[0], to->second[1], to->second[2]);
  }
}

}  // namespace

std::vector<SweepRun> name_by_plan(const SweepPaths& paths, std::vector<SweepRun>& runs) {
  std::vector<SweepRun> known;
  if (!paths.root.empty() && fs::exists(paths.plan())) known = parse_plan(paths.plan());
  follow_data(known, runs);
  name_runs(runs, known);
  return known;
}

void note_plan(const SweepPaths& paths, std::vector<SweepRun>& runs) {
  make_folders(paths.root);
  const Descriptor lock = lock_plan(paths);
  remove_leftovers(paths.root, {".tmp-sweep.json-"});
  remove_leftovers(paths.outcomes(), {".tmp-"});
  const std::vector<SweepRun> known = name_by_plan(paths, runs);
  std::set<std::string> current;
  for (const SweepRun& run : runs) current.insert(run.content);
  Json all = Json::array();
  for (const SweepRun& run : runs) all.push_back(plan_entry(run));
  for (const SweepRun& run : known) {
    if (!current.contains(run.content)) all.push_back(plan_entry(run));
  }
  write_file_atomically(paths.plan(), Json{{"version", kVersion}, {"runs", all}}.dump(1) + "\n");
}

std::vector<SweepRun> read_plan(const SweepPaths& paths) {
  if (!fs::exists(paths.plan())) {
    throw Error(ExitCode::no_input, fmt::format("{} is no folder of a sweep (no sweep.json)", paths.root));
  }
  return parse_plan(paths.plan());
}

std::optional<SweepOutcome> read_outcome(const SweepPaths& paths, const SweepRun& run) {
  const std::string path = paths.outcome(run);
  if (!fs::exists(path)) return std::nullopt;
  try {
    const Json json = parse_json(read_file(path), {.source = path});
    SweepOutcome outcome{json.at("content"), json.at("exit_code"), json.at("lines")};
    if (outcome.content == run.content) return outcome;
  } catch (const std::exception&) {
    // An outcome that is damaged is found again by running: a finished run has nothing left to do.
  }
  return std::nullopt;
}

bool has_ended(const SweepPaths& paths, const SweepRun& run) {
  const auto outcome = read_outcome(paths, run);
  const bool settled =
      outcome && (outcome->exit_code == 0 || outcome->exit_code == static_cast<int>(ExitCode::diverged));
  return settled && is_run_folder(paths.run(run));
}

void remove_outcome(const SweepPaths& paths, const SweepRun& run) {
  std::error_code ignored;  // one that stays is only out of date
  fs::remove(paths.outcome(run), ignored);
}

void write_outcome(const SweepPaths& paths, const SweepRun& run, const SweepOutcome& outcome) {
  make_folders(paths.outcomes());
  const Json json = {{"content", outcome.content}, {"exit_code", outcome.exit_code}, {"lines", outcome.lines}};
  write_file_atomically(paths.outcome(run), json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace chargpt
