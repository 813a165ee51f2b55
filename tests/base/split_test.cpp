#include "chargpt/base/split.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/sizes_of.hpp"
#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

std::vector<std::int32_t> counting_to(std::int32_t count) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

/// The same documents in memory, in a file, and with their sizes in the file only.
std::vector<Split> splits(const TempDir& folder, const std::vector<std::int32_t>& ids, const Offsets& documents,
                          bool cross) {
  TokenFileWriter writer(folder / "t.tokens", 2, 4);
  writer.append(1, ids);
  for (const std::int64_t size : sizes_of(documents)) writer.add_document(1, size);
  writer.finish({});
  return {Split(ids, documents, cross), Split(std::make_shared<TokenFile>(folder / "t.tokens"), 1, cross),
          Split(std::make_shared<TokenFile>(FileReader(folder / "t.tokens"), 0), 1, cross)};
}

std::vector<std::int64_t> stretch_sizes(const Split& split) {
  std::vector<std::int64_t> sizes;
  split.for_stretch_sizes_from(0, [&](std::int64_t size) {
    sizes.push_back(size);
    return true;
  });
  return sizes;
}

TEST(Split, IsTheSameInMemoryAndInAFile) {
  const TempDir folder;
  for (const Split& split : splits(folder, counting_to(200'000), {3, 0, 149'997, 50'000}, false)) {
    EXPECT_EQ(split.size(), 200'000);
    EXPECT_EQ(split.documents(), 4);
    EXPECT_EQ(split.start(2), split.start(1));
    EXPECT_EQ(split.document(0), (std::vector<std::int32_t>{0, 1, 2}));
    EXPECT_EQ(split.document_at(2), 0);
    EXPECT_EQ(split.document_at(3), 2);
    EXPECT_EQ(split.document_at(199'999), 3);
    EXPECT_EQ(split.ids(149'999, 150'001), (std::vector<std::int32_t>{149'999, 150'000}));
    std::vector<std::int32_t> pieces;
    split.for_each_piece(
        1, 199'999, [&](std::span<const std::int32_t> ids) { pieces.insert(pieces.end(), ids.begin(), ids.end()); });
    EXPECT_TRUE(pieces == split.ids(1, 199'999));
    std::vector<std::vector<std::int32_t>> documents(1);
    split.for_each_document_piece([&](std::span<const std::int32_t> ids, bool ended) {
      documents.back().insert(documents.back().end(), ids.begin(), ids.end());
      if (ended) documents.emplace_back();
    });
    ASSERT_EQ(documents.size(), 5);
    for (std::size_t d = 0; d < 4; ++d) EXPECT_TRUE(documents[d] == split.document(static_cast<std::int64_t>(d))) << d;
    EXPECT_TRUE(documents[4].empty());
    EXPECT_EQ(split.stretches(), 4);
    EXPECT_EQ(split.stretch_start(2), 3);
    EXPECT_EQ(stretch_sizes(split), (std::vector<std::int64_t>{3, 0, 149'997, 50'000}));
  }
}

TEST(Split, IsOneStretchWhereWindowsCrossDocuments) {
  const TempDir folder;
  for (const Split& split : splits(folder, counting_to(10), {3, 7}, true)) {
    EXPECT_EQ(split.documents(), 2);
    ASSERT_EQ(split.stretches(), 1);
    EXPECT_EQ(split.stretch_start(0), 0);
    EXPECT_EQ(stretch_sizes(split), std::vector<std::int64_t>{10});
    std::vector<std::int32_t> ids;
    int ends = 0;
    split.for_each_stretch_piece([&](std::span<const std::int32_t> piece, bool ended) {
      ids.insert(ids.end(), piece.begin(), piece.end());
      ends += ended ? 1 : 0;
    });
    EXPECT_EQ(ids, counting_to(10));
    EXPECT_EQ(ends, 1);
  }
  const Split empty(std::vector<std::int32_t>{}, {0}, true);
  EXPECT_EQ(empty.stretches(), 0);
  EXPECT_TRUE(stretch_sizes(empty).empty());
}

TEST(Split, WithoutDocumentsIsEmpty) {
  EXPECT_EQ(Split().size(), 0);
  EXPECT_EQ(Split().documents(), 0);
  EXPECT_EQ(Split().stretches(), 0);
}

}  // namespace
}  // namespace chargpt
