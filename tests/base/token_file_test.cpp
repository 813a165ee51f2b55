#include "chargpt/base/token_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "chargpt/base/random.hpp"
#include "support/damage.hpp"
#include "support/sizes_of.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kPerBlock = (1 << 20) / 2;  // ids of 2 bytes

std::vector<std::int32_t> some_ids(std::int64_t count, std::uint64_t below) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::int32_t>(random_below(1, Purpose::split, 0, i, below));
  return ids;
}

class TokenFileTest : public testing::Test {
 protected:
  /// Two sections, whose ids are given in turn, some at a time.
  void write(const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second, std::size_t id_bytes) {
    TokenFileWriter writer(path_, 2, id_bytes);
    constexpr std::size_t kSome = 70'001;
    for (std::size_t at = 0; at < std::max(first.size(), second.size()); at += kSome) {
      for (const auto& [section, ids] : {std::pair{0, &first}, std::pair{1, &second}}) {
        if (at >= ids->size()) continue;
        writer.append(static_cast<std::size_t>(section),
                      std::span(*ids).subspan(at, std::min(kSome, ids->size() - at)));
      }
    }
    writer.add_document(0, std::ssize(first));
    writer.add_document(1, 1);
    writer.add_document(1, std::ssize(second) - 1);
    writer.finish({{"name", "test"}});
  }
  static std::vector<std::int32_t> read(const TokenFile& file, std::size_t section, std::int64_t begin,
                                        std::int64_t end) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(end - begin));
    file.read(section, begin, ids);
    return ids;
  }
  static void read_everything(const TokenFile& file) {
    for (const std::size_t section : {0, 1}) {
      read(file, section, 0, file.documents(section).end());
      sizes_of(file.documents(section));
    }
  }
  void flip(std::uintmax_t byte, int bit) const {
    std::string bytes = read_file(path_);
    bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << bit));
    folder_.write("t.tokens", bytes);
  }

  TempDir folder_;
  std::string path_ = folder_ / "t.tokens";
};

TEST_F(TokenFileTest, GivesBackWhatWasWrittenFromAnyPlaceOn) {
  for (const std::size_t id_bytes : {2, 4}) {
    const auto first = some_ids(2 * kPerBlock + 5, id_bytes == 2 ? 65'536 : 1'000'000), second = some_ids(3, 2);
    write(first, second, id_bytes);
    const TokenFile file(path_);
    EXPECT_EQ(file.description(), Json({{"name", "test"}}));
    EXPECT_EQ(sizes_of(file.documents(0)), std::vector<std::int64_t>{std::ssize(first)});
    EXPECT_EQ(sizes_of(file.documents(1)), (std::vector<std::int64_t>{1, 2}));
    EXPECT_TRUE(read(file, 0, 0, std::ssize(first)) == first);
    EXPECT_EQ(read(file, 1, 0, 3), second);
    EXPECT_TRUE(read(file, 1, 2, 2).empty());
    for (const std::int64_t border : {kPerBlock, 2 * kPerBlock, kPerBlock / 2}) {
      for (const std::int64_t begin : {border - 33, border - 1, border}) {
        const std::int64_t end = std::min(begin + 65, std::ssize(first));
        EXPECT_EQ(read(file, 0, begin, end), std::vector<std::int32_t>(first.begin() + begin, first.begin() + end));
      }
    }
  }
}

/// Whose sizes fill several blocks and are not held in memory.
TEST_F(TokenFileTest, MayHaveMillionsOfDocuments) {
  constexpr std::int64_t kDocuments = 5'000'000;
  constexpr std::int64_t kAcross = (1 << 20) - 1;  // the size of two bytes that lies in two blocks
  const auto size_of = [](std::int64_t d) { return d == kAcross ? 300 : d % 3; };
  std::int64_t end = 0;
  {
    TokenFileWriter writer(path_, 2, 2);
    for (std::int64_t d = 0; d < kDocuments; ++d) {
      writer.add_document(1, size_of(d));
      end += size_of(d);
    }
    writer.append(1, std::vector<std::int32_t>(static_cast<std::size_t>(end), 7));
    writer.finish({});
  }
  const TokenFile file(path_);
  const Offsets& documents = file.documents(1);
  EXPECT_EQ(documents.pieces(), kDocuments);
  EXPECT_EQ(documents.end(), end);
  std::int64_t d = 0, start = 0;
  documents.for_sizes_from(0, [&](std::int64_t size) {
    if (size != size_of(d)) return false;
    if (d % 99'991 == 0 && documents.start(d) != start) return false;
    if (d % 99'991 == 0 && size > 0 && documents.piece_at(start) != d) return false;
    start += size;
    ++d;
    return true;
  });
  EXPECT_EQ(d, kDocuments);
  std::filesystem::resize_file(path_, 2'000'000);
  expect_error(ExitCode::io, {path_}, [&] { documents.start(kDocuments - 1); });
}

TEST_F(TokenFileTest, MayHaveNoIds) {
  TokenFileWriter(path_, 1, 2).finish({});
  const TokenFile file(path_);
  EXPECT_EQ(file.documents(0).pieces(), 0);
  EXPECT_TRUE(read(file, 0, 0, 0).empty());
}

TEST_F(TokenFileTest, OutsideItsIdsNothingIsRead) {
  write(some_ids(10, 5), some_ids(2, 5), 2);
  const TokenFile file(path_);
  EXPECT_THROW(read(file, 0, 8, 11), std::out_of_range);
  EXPECT_THROW(read(file, 0, -1, 1), std::out_of_range);
  EXPECT_THROW(read(file, 2, 0, 1), std::out_of_range);
}

TEST_F(TokenFileTest, NoFlippedBitAndNoCutGoesUnnoticed) {
  write(some_ids(40, 100), some_ids(7, 100), 2);
  with_every_damage(path_, read_file(path_), [&](const std::string& damage) {
    SCOPED_TRACE(damage);
    expect_error(ExitCode::io, {path_}, [&] { read_everything(TokenFile(path_)); });
    expect_error(ExitCode::io, {path_}, [&] { read_everything(TokenFile(FileReader(path_), 0)); });
  });
  EXPECT_NO_THROW(read_everything(TokenFile(path_)));
  std::filesystem::remove(path_);
  expect_error(ExitCode::no_input, {path_}, [&] { TokenFile{path_}; });
}

TEST_F(TokenFileTest, OnlyADamagedBlockIsRefused) {
  write(some_ids(3 * kPerBlock, 100), {1}, 2);
  flip(kPerBlock * 2 + 77, 3);  // in the second block
  const TokenFile file(path_);
  EXPECT_NO_THROW(read(file, 0, 0, kPerBlock));
  EXPECT_NO_THROW(read(file, 0, 2 * kPerBlock, 3 * kPerBlock));
  expect_error(ExitCode::io, {"damaged: the block of 1048576 bytes at byte 1048576", "delete this file"},
               [&] { read(file, 0, kPerBlock + 5, kPerBlock + 6); });
}

TEST_F(TokenFileTest, ThatIsCutWhileItIsOpenIsAnError) {
  write(some_ids(3 * kPerBlock, 100), {1}, 2);
  const TokenFile file(path_);
  read(file, 0, 0, 10);
  std::filesystem::resize_file(path_, 2000);
  expect_error(ExitCode::io, {"something wrote to it"}, [&] { read(file, 0, 0, 10); });
  expect_error(ExitCode::io, {"cut short while it was read"}, [&] { read(file, 0, 2000, 2010); });
  expect_error(ExitCode::io, {"cut short: it ends at byte"}, [&] { read(file, 0, kPerBlock, kPerBlock + 1); });
}

TEST_F(TokenFileTest, ThatIsWrittenToWhileItIsOpenIsAnError) {
  write(some_ids(3 * kPerBlock, 100), {1}, 2);
  const auto before = std::filesystem::last_write_time(path_);
  const TokenFile file(path_);
  read(file, 0, 0, 10);
  std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary) << "\xff\xff\xff\xff";
  std::filesystem::last_write_time(path_, before + std::chrono::seconds(1));  // clocks may be coarse
  expect_error(ExitCode::io, {"something wrote to it while it was in use", "delete this file"},
               [&] { read(file, 0, 0, 10); });
}

/// A checksum can be right of what nobody should have written.
TEST_F(TokenFileTest, WithFewerBlocksThanItsIdsFillIsRefused) {
  TokenFileWriter writer(path_, 1, 2);
  writer.append(0, some_ids(kPerBlock, 5));
  writer.add_document(0, kPerBlock + 1);
  writer.finish({});
  expect_error(ExitCode::io, {path_, "index cannot be read"}, [&] { TokenFile{path_}; });
}

TEST_F(TokenFileTest, WithMoreIdsThanBytesIsRefused) {
  for (const std::int64_t ids : {std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()}) {
    TokenFileWriter writer(path_, 1, 4);
    writer.add_document(0, ids);  // 2^62 ids of 4 bytes are 0 blocks, if counted in 64 bits
    writer.finish({});
    expect_error(ExitCode::io, {path_, "index cannot be read"}, [&] { TokenFile{path_}; });
  }
}

TEST_F(TokenFileTest, ADescriptionMayHaveAnyNumberOfValues) {
  const Json symbols = std::vector<std::string>(300'000, "a");
  TokenFileWriter(path_, 1, 4).finish(symbols);
  EXPECT_TRUE(TokenFile(path_).description() == symbols);
}

}  // namespace
}  // namespace chargpt
