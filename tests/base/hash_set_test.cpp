#include "chargpt/base/hash_set.hpp"

#include <gtest/gtest.h>

#include <string>

#include "chargpt/base/file.hpp"

namespace chargpt {
namespace {

TEST(HashSet, HoldsWhatWasPutInAndNothingElse) {
  HashSet set;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) EXPECT_TRUE(set.insert(xxh3_64(std::to_string(i))));
  EXPECT_EQ(set.size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; ++i) EXPECT_FALSE(set.insert(xxh3_64(std::to_string(i))));
  EXPECT_EQ(set.size(), static_cast<std::size_t>(kCount));
  for (int i = kCount; i < 2 * kCount; ++i) EXPECT_FALSE(set.contains(xxh3_64(std::to_string(i))));
}

TEST(HashSet, FindsHashesThatWantTheSameSlot) {
  HashSet set;
  for (std::uint64_t i = 1; i <= 200; ++i) EXPECT_TRUE(set.insert(i << 32));
  for (std::uint64_t i = 1; i <= 200; ++i) EXPECT_TRUE(set.contains(i << 32));
  EXPECT_FALSE(set.contains(std::uint64_t{201} << 32));
}

TEST(HashSet, AHashOfZeroIsOneToo) {
  HashSet set;
  EXPECT_FALSE(set.contains(0));
  EXPECT_TRUE(set.insert(0));
  EXPECT_TRUE(set.contains(0));
  EXPECT_FALSE(set.insert(1));
}

}  // namespace
}  // namespace chargpt
