#include "chargpt/base/thread_pool.hpp"

namespace chargpt {

ThreadPool::ThreadPool(int threads) {
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { wait_for_work(worker); });
  }
}

ThreadPool::~ThreadPool() {
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
  for (std::int64_t i = next_++; i < count_; i = next_++) (*task_)(i, worker);
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
}

}  // namespace chargpt
