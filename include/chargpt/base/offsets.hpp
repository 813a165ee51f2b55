#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace chargpt {

/// Where pieces start that lie one after the other from 0 on, and where the last one ends. What is kept of a piece is
/// its size, in as many bytes as that has groups of 7 bits (LEB128, as in DWARF 5, section 7.6), and of each group of
/// kGroup pieces where it begins: for sizes below 128 1.5 bytes a piece, below 16,384 2.5.
class Offsets {
 public:
  static constexpr std::int64_t kGroup = 32;

  Offsets() = default;
  Offsets(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t size : sizes) add(size);
  }
  /// What packed() of an equal one gave. Throws std::out_of_range when it is not `pieces` sizes, or their sum has more
  /// than 63 bits.
  static Offsets unpacked(std::int64_t pieces, std::string_view packed);

  void add(std::int64_t size);  ///< size >= 0
  std::int64_t pieces() const { return pieces_; }
  std::int64_t end() const { return end_; }
  /// 0 <= piece <= pieces(), whose start is the end.
  std::int64_t start(std::int64_t piece) const;
  /// The piece that holds a position, 0 <= position < end(). O(log pieces).
  std::int64_t piece_at(std::int64_t position) const;
  /// The sizes in order, one a call of next(), of which there may be as many as there are pieces.
  class Sizes {
   public:
    explicit Sizes(const Offsets& offsets) : offsets_(offsets) {}
    std::int64_t next() { return offsets_.read(at_); }

   private:
    const Offsets& offsets_;
    std::size_t at_ = 0;
  };
  /// Calls use(size) with each in order.
  template <class Use>
  void for_each_size(const Use& use) const {
    for (std::size_t at = 0; at < packed_.size();) use(read(at));
  }
  const std::string& packed() const { return packed_; }
  bool operator==(const Offsets& other) const { return packed_ == other.packed_; }

 private:
  struct Group {
    std::int64_t start;  ///< of its first piece
    std::size_t at;      ///< where that piece's size stands in packed_
  };
  /// The size that stands at `at`, which is moved behind it.
  std::int64_t read(std::size_t& at) const;

  std::string packed_;
  std::vector<Group> groups_;
  std::int64_t pieces_ = 0, end_ = 0;
};

}  // namespace chargpt
