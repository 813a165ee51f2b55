#include "chargpt/base/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "chargpt/base/error.hpp"

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

std::vector<int> allowed() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

/// The processors that each of a pool's threads may use within run().
std::vector<std::vector<int>> allowed_within(ThreadPool& pool) {
  std::vector<std::vector<int>> cpus(static_cast<std::size_t>(pool.threads()));
  std::atomic<int> here = 0;
  pool.run(pool.threads(), [&](std::int64_t, int worker) {
    cpus[static_cast<std::size_t>(worker)] = allowed();
    for (++here; here < pool.threads();) std::this_thread::yield();  // so that every thread has one
  });
  return cpus;
}

TEST(ThreadPool, PinnedThreadsHaveACoreEachAndTheCallerIsReleased) {
  const auto before = allowed();
  ThreadPool pool(static_cast<int>(before.size()), true);
  const auto within = allowed_within(pool);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(within[i], std::vector<int>{before[i]});
  EXPECT_EQ(allowed(), before);
}

TEST(ThreadPool, OtherThreadsAreNotBound) {
  ThreadPool pool(2);
  for (const auto& cpus : allowed_within(pool)) EXPECT_EQ(cpus, allowed());
}

TEST(ThreadPool, DoesNotPinMoreThreadsThanCores) {
  const auto cores = static_cast<int>(allowed().size());
  try {
    ThreadPool(cores + 1, true);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("run.pin"), std::string::npos);
  }
}

TEST(UsableThreads, AreAtMostTheProcessorsOfTheAffinityMask) {
  unsetenv("OMP_NUM_THREADS");
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed().front(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_threads(), 1);
  }).join();
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
