#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "chargpt/base/corpus.hpp"

namespace chargpt {

/// A character model by counting, to compare a network with: interpolated n-grams with Witten and Bell's smoothing
/// (Bell, Cleary, Witten, "Text compression", 1990, method C):
///   p(c | h) = (count(h c) + kinds(h) p(c | h')) / (count(h) + kinds(h)),
/// where h' is h without its oldest id, kinds(h) is how many different ids were seen after h, and below the empty
/// history every id is equally likely. Order 0: uniform; order 1: without history; order n: with the last n - 1 ids.
class NGram {
 public:
  NGram(std::int64_t order, const Split& train, std::int64_t vocabulary);
  /// `history`: ids of the same stretch before `id`; only the last order - 1 count. Above 0; sums to 1 over the ids.
  double probability(std::span<const std::int32_t> history, std::int32_t id) const;
  /// Nats per id over every id but each stretch's first (Split).
  double nats_per_char(const Split& split) const;

 private:
  struct Counts {
    std::int64_t total = 0;
    std::unordered_map<std::int32_t, std::int64_t> of;  ///< by the id that followed
  };
  using History = std::u32string;  ///< ids as code units, for their hash

  std::int64_t order_;
  std::int64_t vocabulary_;
  std::unordered_map<History, Counts> counts_;
};

}  // namespace chargpt
