#include "chargpt/app/sweep_runner.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <deque>
#include <map>

#include "chargpt/app/sweep_display.hpp"
#include "chargpt/app/sweep_worker.hpp"
#include "chargpt/base/run_folder.hpp"

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

/// One part of the processors for each worker, where there are enough; else none, and the system deals them out.
std::vector<std::vector<int>> share_processors(std::size_t workers, std::size_t each) {
  const std::vector<int> all = usable_processors();
  std::vector<std::vector<int>> parts(workers);
  if (each == 0 || workers * each > all.size()) return parts;
  for (std::size_t w = 0; w < workers; ++w) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(w * each);
    parts[w].assign(begin, begin + static_cast<std::ptrdiff_t>(each));
  }
  return parts;
}

class SweepRunner {
 public:
  SweepRunner(const SweepPaths& paths, const std::vector<SweepRun>& runs, const SweepOptions& options)
      : paths_(paths), runs_(runs), options_(options), display_(paths, runs, {options.live, options.quiet}) {
    report_.runs = runs.size();
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (!ended_before(run)) waiting_.push_back(run);
    }
  }

  SweepReport run() {
    const std::size_t workers = std::min(static_cast<std::size_t>(options_.workers), waiting_.size());
    if (workers == 0) return report_;
    processors_ = share_processors(workers, static_cast<std::size_t>(runs_[waiting_.front()].config.run.threads));
    display_.say(fmt::format("{} of {} runs to do, {} at once; written to {}", waiting_.size(), report_.runs, workers,
                             paths_.root));
    workers_.resize(workers);
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
  bool ended_before(std::size_t run) {
    const auto outcome = read_outcome(paths_, runs_[run]);
    const bool finished = outcome && outcome->exit_code == 0;
    const bool diverged = outcome && outcome->exit_code == static_cast<int>(ExitCode::diverged);
    report_.finished += finished ? 1 : 0;
    report_.failed += diverged ? 1 : 0;
    if (diverged) report_.last_failure = outcome->exit_code;
    if (finished || diverged) display_.skip(run);
    return finished || diverged;
  }

  /// Gives idle workers runs. False when nothing is in progress any more.
  bool start_runs() {
    bool busy = false;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      auto& worker = workers_[w];
      const bool idle = !worker || !worker->run();
      if (idle && !stopping_ && !waiting_.empty()) {
        if (!worker) worker.emplace(paths_, runs_, SweepWorker::Setup{processors_[w], options_.verbose});
        display_.begin(waiting_.front());
        worker->start(waiting_.front());
        waiting_.pop_front();
      }
      busy = busy || (worker && worker->run());
    }
    return busy;
  }

  void wait() {
    std::vector<pollfd> polls;
    for (const auto& worker : workers_) {
      if (!worker || !worker->run()) continue;
      for (const int descriptor : worker->descriptors()) polls.push_back({descriptor, POLLIN, 0});
    }
    poll(polls.data(), polls.size(), kPollMilliseconds);  // a signal ends it too
  }

  void take(std::size_t w) {
    auto& worker = workers_[w];
    if (!worker || !worker->run()) return;
    const std::size_t run = *worker->run();
    const auto code = worker->take();
    if (!code) return;
    // A worker that was told to stop has taken the signal for all its runs to come.
    const bool signalled = *code > 128;
    if (signalled && !worker->dead()) {
      put_back(run);
    } else if (worker->dead()) {
      died(run, *code, worker->last_lines());
    } else {
      ended(run, *code, worker->last_lines());
    }
    if (signalled || worker->dead()) worker.reset();
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
      write_outcome(paths_, runs_[run], {runs_[run].content, code, code == 0 ? std::vector<std::string>{} : lines});
    }
    if (code == 0) {
      ++report_.finished;
      return display_.end(run, "finished");
    }
    ++report_.failed;
    report_.last_failure = code;
    display_.end(run, fmt::format("failed with exit code {} ({})", code, lines.empty() ? "no message" : lines.back()));
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
  std::map<std::size_t, Deaths> deaths_;
  bool stopping_ = false;
};

}  // namespace

SweepReport run_sweep_plan(const SweepPaths& paths, const std::vector<SweepRun>& runs, const SweepOptions& options) {
  return SweepRunner(paths, runs, options).run();
}

}  // namespace chargpt
