#include "chargpt/app/sweep_runner.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>

#include "chargpt/app/sweep_display.hpp"
#include "chargpt/app/sweep_worker.hpp"
#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/device_name.hpp"
#include "chargpt/base/memory.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/visible_gpus.hpp"

namespace chargpt {
namespace {

constexpr int kPollMilliseconds = 200;
constexpr int kDeathsWithoutProgress = 3;

/// The processors that this process may use.
std::vector<int> usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(static_cast<std::size_t>(processor), &set)) processors.push_back(processor);
  }
  return processors;
}

/// One part of the processors for each worker, where the workers take them all; else none, and the system deals them
/// out: another sweep, or a job of the same array, would take the same ones.
std::vector<std::vector<int>> share_processors(std::size_t workers, std::size_t each) {
  const std::vector<int> all = usable_processors();
  std::vector<std::vector<int>> parts(workers);
  if (workers * each > all.size() || all.size() - workers * each >= each) return parts;
  for (std::size_t w = 0; w < workers; ++w) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(w * each);
    parts[w].assign(begin, begin + static_cast<std::ptrdiff_t>(each));
  }
  return parts;
}

/// Whether a run says which of the GPUs it wants ("cuda:1").
bool names_a_gpu(const std::vector<SweepRun>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const SweepRun& run) { return parse_device_name(run.config.run.device).index.has_value(); });
}

/// The GPUs that workers take in turn; empty: each sees all.
std::vector<std::string> shared_gpus(const std::vector<SweepRun>& runs) {
  return names_a_gpu(runs) ? std::vector<std::string>{} : visible_gpus();
}

/// What a run asks of the machine that not every machine has.
std::string demands(const Config& config) {
  return fmt::format("{} {} {} {} {}", config.run.device, name(config.run.precision), config.run.tf32,
                     name(config.model.attention), config.run.pin ? config.run.threads : 0);
}

/// The same of a run that may not fit into the memory, with all that decides how much it takes.
std::string demands(const SweepRun& run, double available) {
  std::string kind = demands(run.config);
  if (run.most_memory() <= available) return kind;
  return fmt::format("{} {} {}", kind, to_json(run.config)["model"].dump(), run.config.train.windows_per_pass());
}

/// The last of what a failed run said, without the word before it.
std::string reason(const std::vector<std::string>& lines) {
  if (lines.empty()) return "no message";
  const std::string prefix = "error: ", &last = lines.back();
  return last.starts_with(prefix) ? last.substr(prefix.size()) : last;
}

/// For a moment, or until there is something to read; a signal ends it too.
void wait_for(const std::vector<int>& descriptors) {
  std::vector<pollfd> polls;
  std::transform(descriptors.begin(), descriptors.end(), std::back_inserter(polls), [](int descriptor) {
    return pollfd{descriptor, POLLIN, 0};
  });
  poll(polls.data(), polls.size(), kPollMilliseconds);
}

class SweepRunner {
 public:
  SweepRunner(const SweepPaths& paths, const std::vector<SweepRun>& runs, const SweepOptions& options)
      : paths_(paths), runs_(runs), options_(options), display_(paths, runs, {options.live, options.quiet}) {
    report_.runs = runs.size();
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (!skip(run)) waiting_.push_back(run);
    }
  }

  SweepReport run() {
    const std::size_t workers = std::min(static_cast<std::size_t>(options_.workers), waiting_.size());
    if (workers == 0) return report_;
    processors_ = share_processors(workers, static_cast<std::size_t>(options_.threads));
    gpus_ = shared_gpus(runs_);
    workers_.resize(workers);
    display_.say(fmt::format("{} of {} runs to do, {} at once; written to {}", waiting_.size(), report_.runs, workers,
                             paths_.root));
    while (start_runs()) {
      wait();
      for (std::size_t w = 0; w < workers; ++w) take(w);
      display_.refresh();
      if (options_.stop_signal->load() != 0) stop();
    }
    display_.clear();
    report_.stopped += waiting_.size();
    return report_;
  }

 private:
  /// Of a run that ended before.
  bool skip(std::size_t run) {
    if (!has_ended(paths_, runs_[run])) return false;
    const int code = read_outcome(paths_, runs_[run])->exit_code;
    (code == 0 ? report_.finished : report_.failed) += 1;
    if (code != 0) report_.last_failure = code;
    display_.skip(run);
    return true;
  }

  SweepWorker& worker(std::size_t w) {
    const std::string gpu = gpus_.empty() ? "" : gpus_[w % gpus_.size()];
    if (!workers_[w]) workers_[w].emplace(paths_, runs_, SweepWorker::Setup{processors_[w], gpu, options_.verbose});
    return *workers_[w];
  }

  /// Gives idle workers runs. False when nothing is in progress any more.
  bool start_runs() {
    bool busy = false;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      start_run(w);
      busy = busy || (workers_[w] && workers_[w]->run());
    }
    return busy;
  }

  void start_run(std::size_t w) {
    const bool idle = !workers_[w] || !workers_[w]->run();
    if (!idle || stopping_ || waiting_.empty()) return;
    const std::size_t run = waiting_.front();
    waiting_.pop_front();
    remove_outcome(paths_, runs_[run]);
    worker(w).start(run);
    display_.begin(run);
  }

  void wait() const {
    std::vector<int> descriptors;
    for (const auto& worker : workers_) {
      if (!worker || !worker->run()) continue;
      for (const int descriptor : worker->descriptors()) descriptors.push_back(descriptor);
    }
    wait_for(descriptors);
  }

  void take(std::size_t w) {
    auto& busy = workers_[w];
    if (!busy || !busy->run()) return;
    const std::size_t run = *busy->run();
    const auto code = busy->take();
    if (!code) return;
    if (*code == 0) {
      start_run(w);  // the worker does not wait until this run is noted
      return ended(run, 0, {});
    }
    const bool stopped = *code > 128 && !busy->dead();
    if (stopped) {
      put_back(run);
    } else if (busy->dead()) {
      died(run, *code, busy->last_lines());
    } else {
      ended(run, *code, busy->last_lines());
    }
    // A signal holds for all runs that a process has yet to do, and an error of the device may.
    const bool doubtful =
        code == static_cast<int>(ExitCode::internal) || code == static_cast<int>(ExitCode::out_of_memory);
    if (stopped || doubtful || busy->dead()) busy.reset();
  }

  void put_back(std::size_t run) {
    display_.leave(run);
    waiting_.push_front(run);
  }

  void died(std::size_t run, int code, const std::vector<std::string>& lines) {
    const auto steps = list_checkpoints(RunPaths(paths_.run(runs_[run])).checkpoints());
    const std::int64_t newest = steps.empty() ? -1 : steps.back();
    Deaths& deaths = deaths_.try_emplace(run, Deaths{newest, 0}).first->second;
    deaths.count = newest > deaths.newest ? 1 : deaths.count + 1;
    deaths.newest = newest;
    if (deaths.count >= kDeathsWithoutProgress && !stopping_) return ended(run, code, lines);
    display_.say(fmt::format("{}: its process ended with {}; {}", runs_[run].name, code,
                             stopping_ ? "it goes on when the sweep is started again" : "it goes on in another"));
    put_back(run);
  }

  void ended(std::size_t run, int code, const std::vector<std::string>& lines) {
    const bool held_elsewhere = code == static_cast<int>(ExitCode::locked);
    if (!held_elsewhere) {
      write_outcome(paths_, runs_[run], {runs_[run].content, code, lines});
    }
    if (code == 0) {
      ++report_.finished;
      return display_.end(run, "finished");
    }
    ++report_.failed;
    report_.last_failure = code;
    display_.end(run, fmt::format("failed with exit code {} ({})", code, reason(lines)));
    if (options_.fail_fast) stop();
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    display_.say("stopping: the runs in progress are being saved");
    for (const auto& worker : workers_) {
      if (worker && worker->run()) worker->stop();
    }
  }

  struct Deaths {
    std::int64_t newest;  ///< checkpoint at the last
    int count;            ///< since there was a new one
  };

  const SweepPaths& paths_;
  const std::vector<SweepRun>& runs_;
  const SweepOptions& options_;
  SweepDisplay display_;
  SweepReport report_;
  std::deque<std::size_t> waiting_;
  std::vector<std::optional<SweepWorker>> workers_;
  std::vector<std::vector<int>> processors_;  ///< of each worker
  std::vector<std::string> gpus_;             ///< that workers take in turn; empty: each sees all
  std::map<std::size_t, Deaths> deaths_;
  bool stopping_ = false;
};

}  // namespace

void check_machine(const SweepPaths& paths, const std::vector<SweepRun>& runs) {
  const auto available = static_cast<double>(available_memory());
  std::map<std::string, std::size_t> kinds;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (!has_ended(paths, runs[run])) kinds.emplace(demands(runs[run], available), run);
  }
  kinds.erase(demands(Config{}));
  if (kinds.empty()) return;
  const std::vector<std::string> gpus = shared_gpus(runs);
  SweepWorker worker(paths, runs, {{}, gpus.empty() ? "" : gpus.front(), false});
  for (const auto& [kind, run] : kinds) {
    worker.check(run);
    std::optional<int> code;
    while (!(code = worker.take())) wait_for(worker.descriptors());
    if (*code == 0) continue;
    throw Error(static_cast<ExitCode>(*code), fmt::format("{}: {}", runs[run].name, reason(worker.last_lines())));
  }
}

SweepReport run_sweep_plan(const SweepPaths& paths, const std::vector<SweepRun>& runs, const SweepOptions& options) {
  return SweepRunner(paths, runs, options).run();
}

}  // namespace chargpt
