#include "chargpt/base/thread_pool.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "chargpt/base/cpu_quota.hpp"
#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

/// The processors that the calling thread may run on.
cpu_set_t affinity() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  return mask;
}

/// The one that is number `index` among those of the mask.
cpu_set_t one_of(const cpu_set_t& mask, int index) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask) && index-- == 0) CPU_SET(cpu, &one);
  }
  return one;
}

/// Binds the calling thread to these processors, as long as the system allows them.
void bind(const cpu_set_t& mask) { sched_setaffinity(0, sizeof mask, &mask); }

}  // namespace

int usable_threads() {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  const int wanted = asked == nullptr ? 0 : std::atoi(asked);
  if (wanted > 0) return wanted;
  const int granted = cpu_quota();
  const cpu_set_t mask = affinity();
  const int cores = CPU_COUNT(&mask);
  return std::max(1, granted > 0 ? std::min(granted, cores) : cores);
}

ThreadPool::ThreadPool(int threads, bool pin) : pin_(pin) {
  const cpu_set_t mask = affinity();
  if (pin && threads > CPU_COUNT(&mask)) {
    throw Error(ExitCode::usage,
                fmt::format("run.pin binds each of {} threads to a core of its own, but this process may use {} cores: "
                            "lower run.threads, or set run.pin to false",
                            threads, CPU_COUNT(&mask)));
  }
  try {
    for (int worker = 1; worker < threads; ++worker) {
      workers_.emplace_back([this, worker, mask] {
        if (pin_) bind(one_of(mask, worker));
        wait_for_work(worker);
      });
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
  if (pin_) {
    const cpu_set_t mask = affinity();
    bind(one_of(mask, 0));
    work(0);
    bind(mask);
  } else {
    work(0);
  }
  for (int left = busy_; left > 0; left = busy_) busy_.wait(left);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace chargpt
