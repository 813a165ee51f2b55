#pragma once

#include <cstddef>

#include "chargpt/kernels/attention.hpp"

namespace chargpt {

/// The keys and values of one block for the positions so far, in blocks of kPositions of them: keys (capacity /
/// kPositions, C, kPositions), values (capacity, C). The capacity is a multiple of kPositions, and what lies beyond the
/// positions so far is finite.
struct CachedKeys {
  static constexpr std::size_t kPositions = 16;
  float* keys;
  float* values;
};

/// Notes keys and values of the positions [first, first + count), whose rows qkv (count, 3C) holds.
void cache_keys(std::size_t width, const float* qkv, std::size_t first, std::size_t count, const CachedKeys& cached);

/// Floats of scratch memory that cached_attention() uses.
std::size_t cached_attention_scratch(const AttentionShape& shape);

/// What attention() gives for its last position, to the last bit: y (C) from that position's queries (C) and the keys
/// and values of all shape.positions, its own included.
void cached_attention(const AttentionShape& shape, const float* queries, const CachedKeys& cached, float* scratch,
                      float* y);

}  // namespace chargpt
