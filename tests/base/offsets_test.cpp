#include "chargpt/base/offsets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

/// Sizes of every number of bytes, with runs of empty pieces longer than a group.
std::vector<std::int64_t> some_sizes(std::uint64_t seed, std::size_t count) {
  std::vector<std::int64_t> sizes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random_below(seed, Purpose::split, i / 40, 0, 4) == 0 ? 0 : i % 50;
    sizes[i] = static_cast<std::int64_t>(random_below(seed, Purpose::split, 1, i, std::uint64_t{1} << bits));
  }
  return sizes;
}

Offsets offsets_of(const std::vector<std::int64_t>& sizes) {
  Offsets offsets;
  for (const std::int64_t size : sizes) offsets.add(size);
  return offsets;
}

void expect_places(const Offsets& offsets, const std::vector<std::int64_t>& sizes) {
  ASSERT_EQ(offsets.pieces(), std::ssize(sizes));
  std::int64_t start = 0;
  for (std::int64_t piece = 0; piece < offsets.pieces(); ++piece) {
    ASSERT_EQ(offsets.start(piece), start) << piece;
    const std::int64_t size = sizes[static_cast<std::size_t>(piece)];
    if (size > 0) {
      ASSERT_EQ(offsets.piece_at(start), piece);
      ASSERT_EQ(offsets.piece_at(start + size - 1), piece);
    }
    start += size;
  }
  EXPECT_EQ(offsets.end(), start);
  EXPECT_EQ(offsets.start(offsets.pieces()), start);
}

TEST(Offsets, AreThoseOfPiecesOneAfterTheOther) {
  for (const std::size_t count : {0, 1, 31, 32, 33, 64, 1000}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto sizes = some_sizes(seed, count);
      const Offsets offsets = offsets_of(sizes);
      expect_places(offsets, sizes);
      std::vector<std::int64_t> read;
      offsets.for_each_size([&](std::int64_t size) { read.push_back(size); });
      EXPECT_EQ(read, sizes);
      expect_places(Offsets::unpacked(offsets.pieces(), offsets.packed()), sizes);
    }
  }
}

TEST(Offsets, TakeAByteForASmallSize) {
  EXPECT_EQ(Offsets({127, 0, 5}).packed().size(), 3);
  EXPECT_EQ(Offsets({128, 16'383}).packed().size(), 4);
}

TEST(Offsets, OfOtherSizesAreOthers) {
  EXPECT_EQ(Offsets({1, 2}), Offsets({1, 2}));
  EXPECT_NE(Offsets({1, 2}), Offsets({2, 1}));
  EXPECT_NE(Offsets({1, 2}), Offsets({3}));
}

TEST(Offsets, AreNotReadFromWhatIsNone) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::string packed = Offsets({300, 1}).packed(), most = Offsets({kMost}).packed();
  EXPECT_EQ(Offsets::unpacked(1, most).end(), kMost);
  EXPECT_THROW(Offsets::unpacked(1, packed), std::out_of_range);                           // more than is wanted
  EXPECT_THROW(Offsets::unpacked(3, packed), std::out_of_range);                           // less
  EXPECT_THROW(Offsets::unpacked(1, packed.substr(0, 1)), std::out_of_range);              // a size without its end
  EXPECT_THROW(Offsets::unpacked(2, most + '\x01'), std::out_of_range);                    // a sum of 64 bits
  EXPECT_THROW(Offsets::unpacked(1, std::string(9, '\x80') + '\x01'), std::out_of_range);  // a size of 64 bits
}

}  // namespace
}  // namespace chargpt
