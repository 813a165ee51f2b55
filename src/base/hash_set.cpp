#include "chargpt/base/hash_set.hpp"

#include <algorithm>
#include <utility>

namespace chargpt {
namespace {

/// 0 says that a slot has nothing.
std::uint64_t as_stored(std::uint64_t hash) { return std::max<std::uint64_t>(hash, 1); }

}  // namespace

/// Where the hash is, or would be put.
std::size_t HashSet::slot_of(std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0 && slots_[slot] != hash) slot = (slot + 1) & mask;
  return slot;
}

bool HashSet::contains(std::uint64_t hash) const { return slots_[slot_of(as_stored(hash))] != 0; }

bool HashSet::insert(std::uint64_t hash) {
  const std::uint64_t stored = as_stored(hash);
  std::uint64_t& slot = slots_[slot_of(stored)];
  if (slot != 0) return false;
  slot = stored;
  if (++size_ > slots_.size() / 4 * 3) grow();  // fuller ones are slow to search
  return true;
}

void HashSet::grow() {
  const auto before = std::exchange(slots_, std::vector<std::uint64_t>(2 * slots_.size()));
  for (const std::uint64_t hash : before) {
    if (hash != 0) slots_[slot_of(hash)] = hash;
  }
}

}  // namespace chargpt
