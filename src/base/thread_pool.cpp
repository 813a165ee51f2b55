#include "chargpt/base/thread_pool.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

int processors() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return static_cast<int>(std::thread::hardware_concurrency());
  return CPU_COUNT(&mask);
}

/// Processors' worth of time that the control group (cgroup v2) grants; 0: no limit.
int quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double time = 0.0, period = 0.0;
  if (!(file >> time >> period) || period <= 0.0) return 0;  // "max 100000" is no number: no limit
  return static_cast<int>(std::ceil(time / period));
}

}  // namespace

int usable_threads() {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  const int wanted = asked == nullptr ? 0 : std::atoi(asked);
  if (wanted > 0) return wanted;
  const int granted = quota();
  return std::max(1, granted > 0 ? std::min(granted, processors()) : processors());
}

ThreadPool::ThreadPool(int threads) {
  try {
    for (int worker = 1; worker < threads; ++worker) {
      workers_.emplace_back([this, worker] { wait_for_work(worker); });
    }
  } catch (const std::system_error& error) {
    const std::size_t granted = workers_.size() + 1;
    finish();
    throw Error(ExitCode::usage, fmt::format("cannot start {} threads: the system granted {} ({}); lower run.threads",
                                             threads, granted, error.what()));
  }
}

ThreadPool::~ThreadPool() { finish(); }

void ThreadPool::finish() {
  stop_ = true;
  ++round_;
  round_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::wait_for_work(int worker) {
  for (unsigned seen = 0;; ++seen) {
    round_.wait(seen);
    if (stop_) return;
    work(worker);
    if (--busy_ == 0) busy_.notify_one();
  }
}

void ThreadPool::work(int worker) {
  try {
    for (std::int64_t i = next_++; i < count_; i = next_++) (*task_)(i, worker);
  } catch (...) {
    next_ = count_;
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t task, int worker)>& task) {
  task_ = &task;
  count_ = count;
  next_ = 0;
  busy_ = static_cast<int>(workers_.size());
  ++round_;
  round_.notify_all();
  work(0);
  for (int left = busy_; left > 0; left = busy_) busy_.wait(left);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace chargpt
