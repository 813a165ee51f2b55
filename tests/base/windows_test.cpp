#include "chargpt/base/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

Split split_of(const std::vector<std::int64_t>& sizes) {
  Split split;
  for (const std::int64_t size : sizes) split.starts.push_back(split.starts.back() + size);
  split.ids.assign(static_cast<std::size_t>(split.starts.back()), 0);
  return split;
}

/// Up to seven documents of up to 39 ids, empty ones among them.
Split random_split(std::uint64_t seed) {
  std::vector<std::int64_t> sizes(random_below(seed, Purpose::split, 0, 0, 8));
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] = static_cast<std::int64_t>(random_below(seed, Purpose::split, 1, d, 40));
  }
  return split_of(sizes);
}

std::vector<std::int64_t> offsets_by_search(const Split& split, std::int64_t context, std::int64_t stride) {
  std::vector<std::int64_t> offsets;
  for (std::size_t d = 0; d + 1 < split.starts.size(); ++d) {
    for (std::int64_t at = split.starts[d]; at + context + 1 <= split.starts[d + 1]; at += stride) {
      offsets.push_back(at);
    }
  }
  return offsets;
}

std::vector<std::int64_t> offsets_of(const WindowIndex& index) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(index.size()));
  for (std::int64_t w = 0; w < index.size(); ++w) offsets[static_cast<std::size_t>(w)] = index.offset(w);
  return offsets;
}

TEST(WindowIndex, AgreesWithASearchThroughAllDocuments) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Split split = random_split(seed);
    for (const std::int64_t context : {1, 2, 7, 16}) {
      for (const std::int64_t stride : {1, 2, 5, 50}) {
        ASSERT_EQ(offsets_of({split, context, stride}), offsets_by_search(split, context, stride))
            << "seed " << seed << ", context " << context << ", stride " << stride;
      }
    }
  }
}

TEST(WindowIndex, ADocumentOneIdTooShortGivesNone) {
  EXPECT_EQ(WindowIndex(split_of({16}), 16, 1).size(), 0);
  EXPECT_EQ(WindowIndex(split_of({17}), 16, 1).size(), 1);
}

TEST(WindowSchedule, ShuffledVisitsEachWindowOnceAnEpochAcrossBatches) {
  constexpr std::int64_t kWindows = 23;
  constexpr std::int64_t kBatch = 7;  // 23 batches make 7 epochs
  const WindowSchedule schedule(kWindows, WindowOrder::shuffled, kBatch, 12046);
  std::vector<std::int64_t> visited;
  for (std::int64_t step = 0; step < kWindows; ++step) {
    const auto batch = schedule.windows(step);
    ASSERT_EQ(batch.size(), kBatch);
    visited.insert(visited.end(), batch.begin(), batch.end());
  }
  std::vector<std::int64_t> each(kWindows);
  std::iota(each.begin(), each.end(), 0);
  for (auto epoch = visited.begin(); epoch != visited.end(); epoch += kWindows) {
    EXPECT_TRUE(std::is_permutation(epoch, epoch + kWindows, each.begin()));
    EXPECT_FALSE(std::equal(epoch, epoch + kWindows, each.begin()));
  }
  EXPECT_FALSE(std::equal(visited.begin(), visited.begin() + kWindows, visited.begin() + kWindows));
}

TEST(WindowSchedule, ShuffledTakesABatchLargerThanAnEpoch) {
  const auto batch = WindowSchedule(3, WindowOrder::shuffled, 9, 1).windows(0);
  for (std::int64_t w = 0; w < 3; ++w) EXPECT_EQ(std::count(batch.begin(), batch.end(), w), 3);
}

TEST(WindowSchedule, RandomIsUniform) {
  constexpr std::int64_t kWindows = 10;
  const WindowSchedule schedule(kWindows, WindowOrder::random, 100, 5);
  std::vector<double> seen(kWindows);
  for (std::int64_t step = 0; step < 100; ++step) {
    for (const std::int64_t w : schedule.windows(step)) seen.at(static_cast<std::size_t>(w)) += 1;
  }
  double chi_square = 0;
  for (const double n : seen) chi_square += (n - 1000) * (n - 1000) / 1000;
  EXPECT_LT(chi_square, 27.9);  // the 99.9 % point for 9 degrees of freedom
}

TEST(WindowSchedule, IsAPureFunctionOfSeedAndStep) {
  for (const WindowOrder order : {WindowOrder::random, WindowOrder::shuffled}) {
    const WindowSchedule schedule(1000, order, 16, 5);
    const auto fourth = schedule.windows(4);
    schedule.windows(9);
    EXPECT_EQ(schedule.windows(4), fourth);
    EXPECT_EQ(WindowSchedule(1000, order, 16, 5).windows(4), fourth);
    EXPECT_NE(WindowSchedule(1000, order, 16, 6).windows(4), fourth);
    EXPECT_NE(schedule.windows(5), fourth);
  }
}

TEST(TotalSteps, AreTheStepsOrTheBatchesThatTheEpochsNeed) {
  TrainConfig train;
  train.steps = 0;
  train.epochs = 3;
  train.batch = 8;
  EXPECT_EQ(total_steps(train, 16), 6);
  EXPECT_EQ(total_steps(train, 17), 7);  // 51 windows in batches of 8
  train.steps = 5;
  EXPECT_EQ(total_steps(train, 17), 5);
}

TEST(EvaluationWindows, ScoreEveryIdButTheFirstOfEachDocumentOnceInOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Split split = random_split(seed);
    std::vector<std::int64_t> expected;
    for (std::size_t d = 0; d + 1 < split.starts.size(); ++d) {
      for (std::int64_t i = split.starts[d] + 1; i < split.starts[d + 1]; ++i) expected.push_back(i);
    }
    for (const std::int64_t context : {1, 2, 7, 16, 100}) {
      std::vector<std::int64_t> scored;
      for (const auto& window : evaluation_windows(split, context)) {
        ASSERT_GE(window.length, 1);
        ASSERT_LE(window.length, context);
        for (std::int64_t i = 1; i <= window.length; ++i) scored.push_back(window.offset + i);
      }
      ASSERT_EQ(scored, expected) << "seed " << seed << ", context " << context;
    }
  }
}

TEST(EvaluationWindows, NeverReachFromOneDocumentIntoTheNext) {
  const auto windows = evaluation_windows(split_of({3, 0, 1, 5}), 3);
  ASSERT_EQ(windows.size(), 3);
  EXPECT_EQ(windows[0].offset, 0);
  EXPECT_EQ(windows[0].length, 2);
  EXPECT_EQ(windows[1].offset, 4);
  EXPECT_EQ(windows[1].length, 3);
  EXPECT_EQ(windows[2].offset, 7);
  EXPECT_EQ(windows[2].length, 1);
}

}  // namespace
}  // namespace chargpt
