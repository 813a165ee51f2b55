#include "chargpt/base/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

Split split_of(const std::vector<std::int64_t>& sizes) {
  Offsets documents;
  for (const std::int64_t size : sizes) documents.add(size);
  return {std::vector<std::int32_t>(static_cast<std::size_t>(documents.end())), documents};
}

/// Documents of up to 39 ids, empty ones among them: up to seven, or for every 20th seed several groups.
Split random_split(std::uint64_t seed) {
  const std::uint64_t most = seed % 20 == 0 ? 1500 : 8;
  std::vector<std::int64_t> sizes(random_below(seed, Purpose::split, 0, 0, most));
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] = static_cast<std::int64_t>(random_below(seed, Purpose::split, 1, d, 40));
  }
  return split_of(sizes);
}

std::vector<std::int64_t> offsets_by_search(const Split& split, std::int64_t context, std::int64_t stride) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t d = 0; d < split.documents(); ++d) {
    for (std::int64_t at = split.start(d); at + context + 1 <= split.start(d + 1); at += stride) offsets.push_back(at);
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

TEST(Windows, OfASplitThatCrossesDocumentsAreThoseOfOneDocument) {
  const Split crossing(std::vector<std::int32_t>(30), {3, 1, 14, 12}, true), whole = split_of({30});
  EXPECT_EQ(offsets_of({crossing, 7, 3}), offsets_of({whole, 7, 3}));
  for (const EvalMode mode : {EvalMode::windows, EvalMode::sliding, EvalMode::random}) {
    EvalConfig config;
    config.mode = mode;
    config.windows = 20;
    const EvaluationWindows windows(crossing, 7, config, 1, 0), expected(whole, 7, config, 1, 0);
    ASSERT_EQ(windows.size(), expected.size());
    for (std::int64_t w = 0; w < windows.size(); ++w) {
      EXPECT_EQ(windows[w].offset, expected[w].offset);
      EXPECT_EQ(windows[w].scored, expected[w].scored);
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

TEST(TotalSteps, AreTheStepsOrTheBatchesThatTheEpochsOrCharactersNeed) {
  TrainConfig train;
  train.steps = 0;
  train.epochs = 3;
  train.batch = 8;
  EXPECT_EQ(total_steps(train, 16, 10), 6);
  EXPECT_EQ(total_steps(train, 17, 10), 7);  // 51 windows in batches of 8
  train.steps = 5;
  EXPECT_EQ(total_steps(train, 17, 10), 5);
  train.steps = train.epochs = 0;
  train.characters = 800;  // 80 in a step
  EXPECT_EQ(total_steps(train, 17, 10), 10);
  train.characters = 801;
  EXPECT_EQ(total_steps(train, 17, 10), 11);
}

EvalConfig eval_config(EvalMode mode, std::int64_t stride = 0) {
  EvalConfig config;
  config.mode = mode;
  config.stride = stride;
  return config;
}

std::vector<EvalWindow> all_of(const EvaluationWindows& windows) {
  std::vector<EvalWindow> all;
  for (std::int64_t w = 0; w < windows.size(); ++w) all.push_back(windows[w]);
  return all;
}

std::vector<EvalWindow> windows_of(const Split& split, std::int64_t context, const EvalConfig& config = {}) {
  return all_of({split, context, config, 1, 0});
}

/// Every id but the first of each document.
std::vector<std::int64_t> ids_to_score(const Split& split) {
  std::vector<std::int64_t> ids;
  for (std::int64_t d = 0; d < split.documents(); ++d) {
    for (std::int64_t i = split.start(d) + 1; i < split.start(d + 1); ++i) ids.push_back(i);
  }
  return ids;
}

std::vector<std::int64_t> scored_ids(const std::vector<EvalWindow>& windows) {
  std::vector<std::int64_t> ids;
  for (const EvalWindow& window : windows) {
    for (std::int64_t i = window.length - window.scored; i < window.length; ++i) ids.push_back(window.offset + 1 + i);
  }
  return ids;
}

std::int64_t document_start(const Split& split, std::int64_t id) { return split.start(split.document_at(id)); }

TEST(EvaluationWindows, SideBySideScoreEveryIdButTheFirstOfEachDocumentOnceInOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Split split = random_split(seed);
    for (const std::int64_t context : {1, 2, 7, 16, 100}) {
      const auto windows = windows_of(split, context);
      for (const auto& window : windows) {
        ASSERT_GE(window.length, 1);
        ASSERT_LE(window.length, context);
        ASSERT_EQ(window.scored, window.length);
      }
      ASSERT_EQ(scored_ids(windows), ids_to_score(split)) << "seed " << seed << ", context " << context;
    }
  }
}

TEST(EvaluationWindows, NeverReachFromOneDocumentIntoTheNext) {
  const auto windows = windows_of(split_of({3, 0, 1, 5}), 3);
  ASSERT_EQ(windows.size(), 3);
  EXPECT_EQ(windows[0].offset, 0);
  EXPECT_EQ(windows[0].length, 2);
  EXPECT_EQ(windows[1].offset, 4);
  EXPECT_EQ(windows[1].length, 3);
  EXPECT_EQ(windows[2].offset, 7);
  EXPECT_EQ(windows[2].length, 1);
}

TEST(EvaluationWindows, WithAStrideAreThoseOfATrainingAndCountWhole) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Split split = random_split(seed);
    for (const std::int64_t context : {1, 2, 7, 16}) {
      for (const std::int64_t stride : {1, 3, 16, 40}) {
        const auto windows = windows_of(split, context, eval_config(EvalMode::windows, stride));
        std::vector<std::int64_t> offsets;
        for (const EvalWindow& window : windows) {
          ASSERT_EQ(window.length, context);
          ASSERT_EQ(window.scored, context);
          offsets.push_back(window.offset);
        }
        ASSERT_EQ(offsets, offsets_by_search(split, context, stride));
      }
    }
  }
}

TEST(EvaluationWindows, SlidingScoreEachIdOnceFromEnoughBeforeIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Split split = random_split(seed);
    for (const std::int64_t context : {1, 2, 7, 16, 100}) {
      for (const std::int64_t stride : {1, 2, 5, 16, 1000}) {
        const std::int64_t kept = context - std::min(stride, context) + 1;
        const auto windows = windows_of(split, context, eval_config(EvalMode::sliding, stride));
        ASSERT_EQ(scored_ids(windows), ids_to_score(split)) << "seed " << seed << ", " << context << ", " << stride;
        for (const EvalWindow& window : windows) {
          const std::int64_t first_scored = window.offset + 1 + window.length - window.scored;
          const std::int64_t there = first_scored - document_start(split, first_scored);
          ASSERT_LE(window.length, context);
          ASSERT_GE(first_scored - window.offset, std::min(kept, there));
          ASSERT_GE(window.offset, document_start(split, first_scored));
        }
      }
    }
  }
}

TEST(EvaluationWindows, SlidingByOneSeesAllThatTheContextHolds) {
  const Split split = random_split(7);
  for (const EvalWindow& window : windows_of(split, 7, eval_config(EvalMode::sliding, 1))) {
    const std::int64_t last = window.offset + window.length;  // alone or, at a document's start, among the first 7
    EXPECT_TRUE(window.scored == 1 || window.offset == document_start(split, last));
    EXPECT_EQ(window.offset, std::max(document_start(split, last), last - 7));
  }
}

TEST(EvaluationWindows, RandomDrawsTrainingWindowsUniformlyAndBySeedAndRound) {
  EvalConfig config = eval_config(EvalMode::random);
  config.windows = 9000;
  const Split split = split_of({12, 3, 11, 8});  // 5, 0, 4 and 1 windows of 7 + 1 ids
  std::map<std::int64_t, double> seen;
  for (const EvalWindow& window : windows_of(split, 7, config)) {
    EXPECT_EQ(window.length, 7);
    EXPECT_EQ(window.scored, 7);
    seen[window.offset] += 1;
  }
  const auto offsets = offsets_by_search(split, 7, 1);
  double chi_square = 0;
  for (const std::int64_t offset : offsets) chi_square += (seen[offset] - 900) * (seen[offset] - 900) / 900;
  EXPECT_EQ(seen.size(), offsets.size());
  EXPECT_LT(chi_square, 27.9);  // the 99.9 % point for 9 degrees of freedom

  config.windows = 20;
  const auto drawn = [&](std::uint64_t seed, std::uint64_t round) {
    return scored_ids(all_of({split, 7, config, seed, round}));
  };
  EXPECT_EQ(drawn(3, 4), drawn(3, 4));
  EXPECT_NE(drawn(3, 4), drawn(3, 5));
  EXPECT_NE(drawn(3, 4), drawn(4, 4));
  EXPECT_TRUE(windows_of(split_of({7, 7}), 7, config).empty());
}

/// The lecture's counting rule, by hand: every document with its end mark, every window of T + 1 ids within it.
TEST(EvaluationWindows, CountOfAllWindowsIsThatOfABruteForceCut) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Split split = random_split(seed);
    std::int64_t count = 0;
    for (std::int64_t d = 0; d < split.documents(); ++d) {
      for (std::int64_t begin = split.start(d); begin < split.start(d + 1); ++begin) {
        count += begin + 7 < split.start(d + 1) ? 1 : 0;
      }
    }
    ASSERT_EQ(WindowIndex(split, 7, 1).size(), count);
    ASSERT_EQ(static_cast<std::int64_t>(windows_of(split, 7, eval_config(EvalMode::windows, 1)).size()), count);
  }
}

}  // namespace
}  // namespace chargpt
