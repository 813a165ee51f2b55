#pragma once

#include <cstddef>

#include "chargpt/kernels/attention.hpp"

namespace chargpt {

/// The keys and values of one block for the positions so far: keys (C, capacity), values (capacity, C). The capacity is
/// a multiple of 16, and what lies beyond the positions so far is finite.
struct CachedKeys {
  const float* keys;
  const float* values;
  std::size_t capacity;
};

/// What attention() gives for its last position, to the last bit: y (C) from that position's queries (C) and the keys
/// and values of all shape.positions, its own included. scratch: heads * capacity floats.
void cached_attention(const AttentionShape& shape, const float* queries, const CachedKeys& cached, float* scratch,
                      float* y);

}  // namespace chargpt
