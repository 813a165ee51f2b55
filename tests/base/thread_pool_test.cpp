#include "chargpt/base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace chargpt
