#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chargpt {

/// Hashes of 64 bits whose bits are all alike random, such as XXH3's. Takes 11 to 21 bytes for each, and half as much
/// again while it grows; a hash of 0 counts as 1.
class HashSet {
 public:
  /// False when it was there already.
  bool insert(std::uint64_t hash);
  bool contains(std::uint64_t hash) const;
  std::size_t size() const { return size_; }

 private:
  std::size_t slot_of(std::uint64_t hash) const;
  void grow();

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(16);  // a power of two of them; 0: nothing
  std::size_t size_ = 0;
};

}  // namespace chargpt
