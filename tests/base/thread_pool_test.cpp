#include "chargpt/base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace chargpt {
namespace {

TEST(ThreadPool, DoesEachTaskOnceInEveryRound) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      for (int round = 1; round <= 20; ++round) {
        pool.run(count, [&](std::int64_t i, int) { ++done[static_cast<std::size_t>(i)]; });
        for (const auto& times : done) ASSERT_EQ(times, round);
      }
    }
  }
}

TEST(ThreadPool, NumbersItsThreadsSoThatNoTwoShareMemory) {
  ThreadPool pool(4);
  std::vector<std::int64_t> sums(4);  // not atomic: a data race would show in the total
  pool.run(100000, [&](std::int64_t i, int worker) { sums.at(static_cast<std::size_t>(worker)) += i; });
  EXPECT_EQ(sums[0] + sums[1] + sums[2] + sums[3], 100000LL * 99999 / 2);
}

TEST(ThreadPool, RethrowsTheFirstExceptionWhenAllThreadsAreDone) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> begun = 0;
    const auto task = [&](std::int64_t i, int) {
      ++begun;
      if (i == 5) throw std::runtime_error("five");
    };
    EXPECT_THROW(pool.run(1000, task), std::runtime_error);
    EXPECT_LE(begun, 1000);
    std::atomic<int> done = 0;
    pool.run(10, [&](std::int64_t, int) { ++done; });
    EXPECT_EQ(done, 10);
  }
}

TEST(UsableThreads, FollowsTheEnvironmentWhereItIsANumber) {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(usable_threads(), 3);
  setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_GE(usable_threads(), 1);
  if (before == nullptr) {
    unsetenv("OMP_NUM_THREADS");
  } else {
    setenv("OMP_NUM_THREADS", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace chargpt
