#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace chargpt {

/// How many threads this process may use at once: OMP_NUM_THREADS where that is a number, else the processors of its
/// affinity mask, or fewer where its control groups grant less time (cpu_quota()). At least 1.
int usable_threads();

/// A fixed number of threads that share out numbered tasks. Between two calls of run() they sleep.
class ThreadPool {
 public:
  /// The calling thread of run() is one of `threads` >= 1. Error(usage) when the system grants no more threads.
  /// pin: each thread is bound to a core of its own of this process's affinity mask, the calling one while run() lasts;
  /// Error(usage) when the mask has too few.
  explicit ThreadPool(int threads, bool pin = false);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i, worker) once for each i in [0, count), in any order, from threads numbered 0 <= worker < threads(),
  /// and returns when all are done. When a task throws, no further ones begin, and the first exception is rethrown. One
  /// thread at a time may call this, and no task may.
  void run(std::int64_t count, const std::function<void(std::int64_t task, int worker)>& task);

 private:
  void finish();
  void wait_for_work(int worker);
  void work(int worker);

  bool pin_;
  std::vector<std::thread> workers_;
  const std::function<void(std::int64_t, int)>* task_ = nullptr;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<unsigned> round_ = 0;  ///< counts calls of run(); a change wakes the threads
  std::atomic<int> busy_ = 0;        ///< threads that have not finished the round
  std::atomic<bool> stop_ = false;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  ///< the first of the round
};

}  // namespace chargpt
