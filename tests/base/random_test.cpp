#include "chargpt/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace chargpt {
namespace {

using Counter = std::array<std::uint32_t, 4>;

std::vector<std::uint64_t> order(const Permutation& permutation) {
  std::vector<std::uint64_t> values(permutation.size());
  for (std::uint64_t i = 0; i < permutation.size(); ++i) values[i] = permutation(i);
  return values;
}

/// Sum of (seen - expected)^2 / expected, with equal expectations.
double chi_square(const std::vector<int>& seen) {
  const double expected = std::accumulate(seen.begin(), seen.end(), 0.0) / static_cast<double>(seen.size());
  return std::accumulate(seen.begin(), seen.end(), 0.0,
                         [&](double sum, int n) { return sum + (n - expected) * (n - expected) / expected; });
}

// Known answers published with Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedAnswerForZeros) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, GivesThePublishedAnswerForOnes) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, GivesThePublishedAnswerForDigitsOfPi) {
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBits, PutsEachArgumentIntoItsCounterWords) {
  const std::uint64_t seed = 0x0123456789abcdef;
  const std::uint64_t step = 0x00fedcba98765432;
  const std::uint64_t index = 0x1122334455667788;
  const auto words = philox({0x55667788, 0x11223344, 0x98765432, 0xfedcba03}, {0x89abcdef, 0x01234567});
  EXPECT_EQ(random_bits(seed, Purpose::sampling, step, index), words[0] | std::uint64_t{words[1]} << 32U);
}

TEST(RandomBits, DifferWhereAnyArgumentDiffers) {
  const std::set<std::uint64_t> values = {
      random_bits(1, Purpose::data_order, 2, 3), random_bits(2, Purpose::data_order, 2, 3),
      random_bits(1, Purpose::dropout, 2, 3),    random_bits(1, Purpose::data_order, 3, 3),
      random_bits(1, Purpose::data_order, 2, 4), random_bits(1, Purpose::data_order, 2 + (1ULL << 32U), 3)};
  EXPECT_EQ(values.size(), 6);
}

TEST(RandomUnit, LiesInTheUnitIntervalOnItsGridWithMeanOneHalf) {
  constexpr int kDraws = 10000;
  double sum = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double value = random_unit(7, Purpose::dropout, 0, i);
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ASSERT_EQ(value, static_cast<double>(static_cast<std::uint64_t>(value * 0x1p53)) * 0x1p-53);
    sum += value;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 / std::sqrt(12.0 * kDraws));  // five standard errors
}

TEST(RandomBelow, IsUniformOverItsRange) {
  std::vector<int> seen(10);
  for (std::uint64_t i = 0; i < 10000; ++i) ++seen.at(random_below(7, Purpose::data_order, 0, i, 10));
  EXPECT_LT(chi_square(seen), 27.9);  // the 99.9 % point for 9 degrees of freedom
}

TEST(RandomBelow, OneLeavesOnlyZero) { EXPECT_EQ(random_below(7, Purpose::data_order, 1, 2, 1), 0); }

TEST(Permutation, VisitsEachPositionOnceForEverySize) {
  std::vector<std::uint64_t> sizes(300);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.insert(sizes.end(), {1023, 1024, 1025, 4095, 4097, 65536, 70001});
  for (const std::uint64_t n : sizes) {
    auto values = order({n, 12046, Purpose::data_order, n % 5});
    std::sort(values.begin(), values.end());
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(values[i], i) << "size " << n;
  }
}

TEST(Permutation, StaysInRangeForTheLargestSizes) {
  for (const std::uint64_t n : {(1ULL << 40U) + 1, 1ULL << 63U, ~0ULL}) {
    const Permutation permutation(n, 1, Purpose::data_order, 0);
    std::set<std::uint64_t> values;
    for (std::uint64_t i = 0; i < 100; ++i) values.insert(permutation(n - 1 - i));
    EXPECT_EQ(values.size(), 100);
    EXPECT_LT(*values.rbegin(), n);
  }
}

TEST(Permutation, HasAnInverse) {
  for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 5ULL, 64ULL, 1000ULL, 70001ULL, (1ULL << 40U) + 1, ~0ULL}) {
    const Permutation permutation(n, 9, Purpose::split, 2);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(n, 1000); ++i) {
      ASSERT_EQ(permutation.inverse(permutation(i)), i) << "size " << n;
      ASSERT_EQ(permutation(permutation.inverse(n - 1 - i)), n - 1 - i) << "size " << n;
    }
  }
}

TEST(Permutation, DiffersForAnotherSeedRoundOrPurpose) {
  const auto values = order({100, 1, Purpose::data_order, 0});
  EXPECT_EQ(values, order({100, 1, Purpose::data_order, 0}));
  EXPECT_NE(values, order({100, 2, Purpose::data_order, 0}));
  EXPECT_NE(values, order({100, 1, Purpose::data_order, 1}));
  EXPECT_NE(values, order({100, 1, Purpose::split, 0}));
}

TEST(Permutation, SendsAPositionAnywhereWithEqualChance) {
  std::vector<int> seen(50);
  for (std::uint64_t round = 0; round < 10000; ++round) ++seen.at(Permutation(50, 3, Purpose::data_order, round)(17));
  EXPECT_LT(chi_square(seen), 85.4);  // the 99.9 % point for 49 degrees of freedom
}

TEST(Permutation, GivesEveryOrderOfAFewWithEqualChance) {
  std::vector<std::vector<std::uint64_t>> orders;
  std::vector<int> seen;
  for (std::uint64_t round = 0; round < 6000; ++round) {
    const auto values = order({3, 3, Purpose::data_order, round});
    const auto at = static_cast<std::size_t>(std::find(orders.begin(), orders.end(), values) - orders.begin());
    if (at == orders.size()) {
      orders.push_back(values);
      seen.push_back(0);
    }
    ++seen[at];
  }
  EXPECT_EQ(orders.size(), 6);
  EXPECT_LT(chi_square(seen), 20.5);  // the 99.9 % point for 5 degrees of freedom
}

}  // namespace
}  // namespace chargpt
