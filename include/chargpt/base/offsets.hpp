#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace chargpt {

/// What has to be in memory of the sizes of pieces that lie one after the other from 0 on. The sizes themselves are
/// packed: each in as many bytes as it has groups of 7 bits (LEB128, as in DWARF 5, section 7.6), a byte below 128, two
/// below 16,384.
struct OffsetIndex {
  static constexpr std::int64_t kGroup = 256;  ///< pieces
  static constexpr int kBits = 7;              ///< of a size in each byte
  static constexpr unsigned kMore = 0x80;      ///< in a byte that is not a size's last
  struct Group {
    std::int64_t start;  ///< of its first piece
    std::uint64_t at;    ///< where that piece's size stands among the packed ones
    bool operator==(const Group&) const = default;
  };
  std::vector<Group> groups;
  std::int64_t pieces = 0;
  std::int64_t end = 0;     ///< of the last piece
  std::uint64_t bytes = 0;  ///< of the packed sizes

  /// Appends one more size >= 0 to `packed`, the last of the packed sizes.
  void add(std::int64_t size, std::string& packed);
  bool operator==(const OffsetIndex&) const = default;
};

/// Where pieces start that lie one after the other from 0 on, and where the last one ends. Their packed sizes are in
/// memory or elsewhere; of each group of them 16 bytes are in memory.
class Offsets {
 public:
  /// Reads packed sizes that lie elsewhere: as many bytes as there is room for, which are there.
  using Source = std::function<void(std::uint64_t at, std::span<char> bytes)>;

  Offsets() = default;
  Offsets(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t size : sizes) add(size);
  }
  /// Of packed sizes in memory. Throws std::out_of_range when they are not as the index says.
  Offsets(const OffsetIndex& index, std::string packed);
  /// Of packed sizes elsewhere. Throws std::out_of_range when they cannot be as the index says. Where they are not, so
  /// do the functions that read them, or a position is any number.
  Offsets(OffsetIndex index, Source source);

  void add(std::int64_t size) { index_.add(size, packed_); }  ///< size >= 0; of sizes in memory
  std::int64_t pieces() const { return index_.pieces; }
  std::int64_t end() const { return index_.end; }
  /// 0 <= piece <= pieces(), whose start is the end.
  std::int64_t start(std::int64_t piece) const;
  /// The piece that holds a position, 0 <= position < end(). O(log pieces).
  std::int64_t piece_at(std::int64_t position) const;
  /// Calls use(size) with the size of each piece from `first` on, in order, until it returns false. first: a multiple
  /// of OffsetIndex::kGroup.
  template <class Use>
  void for_sizes_from(std::int64_t first, const Use& use) const {
    std::string memory;
    auto group = static_cast<std::size_t>(first / OffsetIndex::kGroup);
    for (std::size_t count = 1; group < index_.groups.size(); group += count, count = kAtOnce) {
      std::string_view packed = packed_groups(group, count, memory);
      while (!packed.empty()) {
        if (!use(take_size(packed))) return;
      }
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 256;  // groups that are read at a time, where many are
  /// The size that packed ones begin with, which lose it.
  static std::int64_t take_size(std::string_view& packed) {
    std::uint64_t size = 0;
    for (int shift = 0; shift < std::numeric_limits<std::int64_t>::digits && !packed.empty();
         shift += OffsetIndex::kBits) {
      const auto byte = static_cast<unsigned char>(packed.front());
      packed.remove_prefix(1);
      size |= std::uint64_t{byte % OffsetIndex::kMore} << shift;
      if (byte < OffsetIndex::kMore) return static_cast<std::int64_t>(size);
    }
    throw std::out_of_range("a size");
  }
  /// The sizes of up to `count` groups; `memory` holds them where they lie elsewhere.
  std::string_view packed_groups(std::size_t first, std::size_t count, std::string& memory) const;

  OffsetIndex index_;
  std::string packed_;
  Source source_;  // of sizes that are not in memory
};

}  // namespace chargpt
