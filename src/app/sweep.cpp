#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/app/stop_signal.hpp"
#include "chargpt/app/sweep_runner.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/memory.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/progress_line.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/signal_list.hpp"
#include "chargpt/base/table.hpp"
#include "chargpt/base/terminal.hpp"
#include "chargpt/base/thread_pool.hpp"
#include "chargpt/base/visible_gpus.hpp"
#include "chargpt/kernels/fma_peak.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxGridBytes = 1 << 24;

/// What is to be done, checked; nothing is written yet.
struct Sweep {
  SweepPaths paths;
  Config base;
  std::vector<SweepRun> runs;
};

/// Small models share a processor badly: one thread each, where the user does not say otherwise.
Config base_config(const Arguments& arguments) {
  LoadedConfig loaded = resolve_config(arguments);
  if (loaded.origin.at("run.threads") == "default") loaded.config.run.threads = 1;
  check_rules(loaded.config);
  return loaded.config;
}

/// A flag that the grid would silently win over.
void require_flags_apart(const Arguments& arguments, const Grid& grid) {
  for (const Override& override : arguments.overrides) {
    for (const Json& point : grid.points) {
      if (!point.contains(override.key)) continue;
      throw Error(ExitCode::usage, fmt::format("{} sets {}, which {} varies: leave one of them out", override.flag,
                                               override.key, arguments.grid));
    }
  }
}

/// A placeholder could say the base's value alone.
void require_fixed_folder(const std::string& out, const Grid& grid, const std::string& source) {
  for (const Json& point : grid.points) {
    for (const auto& [key, value] : point.items()) {
      if (out.find("{" + key + "}") == std::string::npos) continue;
      throw Error(ExitCode::usage,
                  fmt::format("--out has {{{}}}, which {} varies: the folder is one for all runs, whose "
                              "own folders in it are named after what varies",
                              key, source));
    }
  }
}

void require_ours(const SweepPaths& paths) {
  const std::string& folder = paths.root;
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw Error(ExitCode::cannot_create, fmt::format("{} is a file: give a folder to --out", folder));
  }
  const bool ours = fs::exists(paths.plan()) || fs::exists(paths.plan_lock()) || fs::exists(RunPaths(folder).lock());
  if (is_run_folder(folder) || (fs::exists(folder) && !fs::is_empty(folder) && !ours)) {
    throw Error(ExitCode::usage, fmt::format("{} is not empty and holds no sweep: give a new folder to --out", folder));
  }
}

Sweep prepare(const Arguments& arguments) {
  if (arguments.grid.empty()) throw Error(ExitCode::usage, "what is to vary? Give --grid FILE (see docs/sweeps.md)");
  if (arguments.out.empty() && !arguments.dry_run) {
    throw Error(ExitCode::usage, "where to write? Give --out DIR, such as runs/sweep");
  }
  const Config base = base_config(arguments);
  const std::string text = read_file(arguments.grid, kMaxGridBytes, ExitCode::usage);
  const Grid grid = parse_grid(text, arguments.grid, static_cast<std::uint64_t>(base.run.seed));
  require_flags_apart(arguments, grid);
  require_fixed_folder(arguments.out, grid, arguments.grid);
  Sweep sweep{SweepPaths(fill_placeholders(arguments.out, base)), base, plan_runs(base, grid, arguments.grid)};
  if (!arguments.out.empty()) require_ours(sweep.paths);
  const auto count = static_cast<std::int64_t>(sweep.runs.size());
  if (arguments.index && (*arguments.index < 0 || *arguments.index >= count)) {
    throw Error(ExitCode::usage, fmt::format("--index: got {}, but {} makes {} runs: wanted 0 to {}", *arguments.index,
                                             arguments.grid, count, count - 1));
  }
  return sweep;
}

std::int64_t threads_of(const SweepRun& run) {
  return run.config.run.threads == 0 ? usable_threads() : run.config.run.threads;
}

std::int64_t most_threads(const Sweep& sweep) {
  std::int64_t threads = 1;
  for (const SweepRun& run : sweep.runs) threads = std::max(threads, threads_of(run));
  return threads;
}

/// One for each processor and thread of a run, but several for each GPU where runs may take one; fewer where memory for
/// them is short.
int worker_count(const Arguments& arguments, const Sweep& sweep) {
  if (arguments.index) return 1;
  if (arguments.workers) return static_cast<int>(*arguments.workers);
  constexpr std::int64_t kLibrary = 600 << 20, kBytes = 4 * sizeof(float);  // weights, gradients and two moments
  std::int64_t parameters = 0;
  for (const SweepRun& run : sweep.runs) parameters = std::max(parameters, run.parameters());
  const std::int64_t fit = available_memory() / (kLibrary + parameters * kBytes);
  constexpr std::size_t kWorkersAGpu = 4;
  const auto gpus = static_cast<std::int64_t>(kWorkersAGpu * visible_gpus().size());
  const bool on_cpu = gpus == 0 || std::all_of(sweep.runs.begin(), sweep.runs.end(),
                                               [](const SweepRun& run) { return run.config.run.device == "cpu"; });
  const std::int64_t processors = usable_threads() / most_threads(sweep);
  const std::int64_t wanted = on_cpu ? processors : std::min(processors, gpus);
  return static_cast<int>(std::max<std::int64_t>(1, std::min(wanted, fit)));
}

/// Operations a second of one thread: what small models reach of the peak, which is the best of some short trials.
double expected_speed() {
  constexpr double kShare = 0.3;  // measured at widths from 32 to 128
  constexpr std::int64_t kRounds = 1 << 20, kTrials = 8;
  double peak = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto started = std::chrono::steady_clock::now();
    const double operations = fused_multiply_adds(kRounds);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    peak = std::max(peak, operations / seconds.count());
  }
  return kShare * peak;
}

Json planned_rows(const Sweep& sweep, double speed) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < sweep.runs.size(); ++i) {
    const SweepRun& run = sweep.runs[i];
    rows.push_back({{"index", i},
                    {"run", run.name},
                    {"ended", !sweep.paths.root.empty() && has_ended(sweep.paths, run)},
                    {"parameters", run.parameters()},
                    {"steps", run.steps()},
                    {"characters", run.characters()},
                    {"estimated_seconds", run.operations() / speed / static_cast<double>(threads_of(run))},
                    {"estimated_bytes", run.disk_bytes()}});
  }
  return rows;
}

/// Of the runs that are to be done.
Json plan_report(const Json& rows, int workers) {
  std::int64_t to_do = 0, bytes = 0;
  double seconds = 0;
  for (const Json& row : rows) {
    if (row["ended"].get<bool>()) continue;
    ++to_do;
    seconds += row["estimated_seconds"].get<double>();
    bytes += row["estimated_bytes"].get<std::int64_t>();
  }
  const std::int64_t at_once = std::min<std::int64_t>(workers, to_do);
  return {{"v", 1},
          {"runs", rows},
          {"to_do", to_do},
          {"workers", at_once},
          {"estimated_seconds", seconds / static_cast<double>(std::max<std::int64_t>(1, at_once))},
          {"estimated_bytes", bytes}};
}

std::string plan_table(const Json& report) {
  return to_table(report["runs"]) +
         fmt::format("{} of {} runs to do, {} at once: about {} for their steps, and up to {:.1f} MB on disk\n",
                     report["to_do"].dump(), report["runs"].size(), report["workers"].dump(),
                     format_duration(report["estimated_seconds"].get<double>()),
                     report["estimated_bytes"].get<double>() / 1e6);
}

int report_plan(const Arguments& arguments, const Sweep& sweep) {
  const Json report = plan_report(planned_rows(sweep, expected_speed()), worker_count(arguments, sweep));
  write_output(arguments.json ? report.dump(2) + "\n" : plan_table(report));
  return 0;
}

Json summary(const SweepReport& report, const std::string& folder) {
  return {{"v", 1},
          {"sweep", folder},
          {"runs", report.runs},
          {"finished", report.finished},
          {"failed", report.failed},
          {"stopped", report.stopped}};
}

std::vector<int> with_terminate(std::vector<int> signals) {
  if (std::find(signals.begin(), signals.end(), SIGTERM) == signals.end()) signals.push_back(SIGTERM);
  return signals;
}

/// A run alone has its own exit code, so that a job array sees what train would say.
int exit_code(const SweepReport& report, int stop_signal, bool alone) {
  if (report.stopped > 0 && stop_signal != 0) return 128 + stop_signal;
  if (alone && report.last_failure) return *report.last_failure;
  return report.failed > 0 ? static_cast<int>(ExitCode::internal) : 0;
}

/// Those that this process is to do.
std::vector<SweepRun> chosen(const Arguments& arguments, const std::vector<SweepRun>& runs) {
  return arguments.index ? std::vector{runs[static_cast<std::size_t>(*arguments.index)]} : runs;
}

int train_runs(const Arguments& arguments, Sweep& sweep) {
  note_plan(sweep.paths, sweep.runs);
  sweep.runs = chosen(arguments, sweep.runs);
  SweepOptions options;
  options.workers = worker_count(arguments, sweep);
  options.threads = most_threads(sweep);
  options.fail_fast = arguments.fail_fast;
  options.live = wants_live_line(STDERR_FILENO, arguments.no_color);
  options.quiet = arguments.quiet;
  options.verbose = arguments.verbose;
  // Workers are told to stop by SIGTERM, whatever the list says, and have their handlers from here.
  options.stop_signal = &catch_stop_signals(with_terminate(parse_signal_list(sweep.base.run.stop_signals)));
  const SweepReport report = run_sweep_plan(sweep.paths, sweep.runs, options);
  if (!arguments.quiet) {
    write_message(fmt::format("{} of {} runs finished, {} failed, {} stopped; results: chargpt sweep table {}\n",
                              report.finished, report.runs, report.failed, report.stopped, sweep.paths.root));
  }
  if (arguments.json) write_output(to_json_line(summary(report, sweep.paths.root)) + "\n");
  return exit_code(report, options.stop_signal->load(), arguments.index.has_value());
}

}  // namespace

int run_sweep(const Arguments& arguments) {
  Sweep sweep = prepare(arguments);
  name_by_plan(sweep.paths, sweep.runs);
  if (arguments.dry_run) return report_plan(arguments, sweep);
  check_machine(sweep.paths, chosen(arguments, sweep.runs));
  if (arguments.index) return train_runs(arguments, sweep);  // others of the array train here too
  const RunLock lock(sweep.paths.root);
  return train_runs(arguments, sweep);
}

}  // namespace chargpt
