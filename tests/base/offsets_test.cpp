#include "chargpt/base/offsets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "chargpt/base/random.hpp"
#include "support/sizes_of.hpp"

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

OffsetIndex index_of(const std::vector<std::int64_t>& sizes, std::string& packed) {
  OffsetIndex index;
  for (const std::int64_t size : sizes) index.add(size, packed);
  return index;
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
  for (const std::size_t count : {0, 1, 255, 256, 257, 512, 1000}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto sizes = some_sizes(seed, count);
      std::string packed;
      const OffsetIndex index = index_of(sizes, packed);
      const auto source = [&](std::uint64_t at, std::span<char> bytes) {
        ASSERT_LE(at + bytes.size(), packed.size());
        std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), bytes.begin());
      };
      for (const Offsets& offsets : {offsets_of(sizes), Offsets(index, packed), Offsets(index, source)}) {
        expect_places(offsets, sizes);
        EXPECT_EQ(sizes_of(offsets), sizes);
      }
    }
  }
}

TEST(Offsets, OfManySizesAreReadSomeAtATime) {
  const auto sizes = some_sizes(3, 300'000);
  std::string packed;
  OffsetIndex index = index_of(sizes, packed);
  std::size_t most = 0;
  const Offsets offsets(std::move(index), [&](std::uint64_t at, std::span<char> bytes) {
    most = std::max(most, bytes.size());
    std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), bytes.begin());
  });
  EXPECT_TRUE(sizes_of(offsets) == sizes);
  EXPECT_LT(most, packed.size() / 2);
  std::vector<std::int64_t> some;
  offsets.for_sizes_from(200 * OffsetIndex::kGroup, [&](std::int64_t size) {
    some.push_back(size);
    return some.size() < 1000;
  });
  EXPECT_TRUE(std::equal(some.begin(), some.end(), sizes.begin() + 200 * OffsetIndex::kGroup));
  EXPECT_EQ(some.size(), 1000);
}

TEST(OffsetIndex, TakesAByteForASmallSize) {
  std::string packed;
  EXPECT_EQ(index_of({127, 0, 5}, packed).bytes, 3);
  EXPECT_EQ(index_of({128, 16'383}, packed).bytes, 4);
  EXPECT_EQ(packed.size(), 7);
}

TEST(Offsets, AreNotReadFromWhatIsNone) {
  std::string packed;
  const OffsetIndex good = index_of({300, 1}, packed);
  EXPECT_NO_THROW(Offsets(good, packed));
  EXPECT_THROW(Offsets(good, packed + "a"), std::out_of_range);
  EXPECT_THROW(Offsets(good, packed.substr(0, 2)), std::out_of_range);
  EXPECT_THROW(Offsets(good, "\xAC\x82\x80\x01"), std::out_of_range);  // 300 and 1, but for a byte of nothing
  const auto expect_refused = [&](const std::function<void(OffsetIndex&)>& change) {
    OffsetIndex index = good;
    change(index);
    EXPECT_THROW(Offsets(index, packed), std::out_of_range);
    EXPECT_THROW(Offsets(index, [](std::uint64_t, std::span<char>) {}), std::out_of_range);
  };
  expect_refused([](OffsetIndex& index) { index.pieces = 257; });
  expect_refused([](OffsetIndex& index) { index.pieces = 0; });
  expect_refused([](OffsetIndex& index) { index.pieces = -2; });
  expect_refused([](OffsetIndex& index) { index.groups[0].start = -1; });
  expect_refused([](OffsetIndex& index) { index.groups[0].start = 302; });
  expect_refused([](OffsetIndex& index) { index.groups[0].at = 4; });
  const std::string without_end = "\x81\x82\x83";
  EXPECT_THROW(Offsets(good, without_end), std::out_of_range);
  const Offsets elsewhere(good, [&](std::uint64_t, std::span<char> bytes) {
    std::copy_n(without_end.begin(), bytes.size(), bytes.begin());
  });
  EXPECT_THROW(elsewhere.start(1), std::out_of_range);
  EXPECT_THROW(sizes_of(elsewhere), std::out_of_range);
  OffsetIndex most;
  std::string twice;
  for (int i = 0; i < 2; ++i) OffsetIndex().add(std::numeric_limits<std::int64_t>::max(), twice);
  EXPECT_THROW(Offsets(most, twice), std::out_of_range);  // a sum of 64 bits
}

}  // namespace
}  // namespace chargpt
