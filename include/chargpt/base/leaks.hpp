#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/corpus.hpp"

namespace chargpt {

/// A line of fewer characters may stand in two parts by chance.
inline constexpr std::int64_t kLongLine = 40;

/// What is compared between the parts: documents, and lines of at least kLongLine characters.
enum class Piece { document, line };
std::string_view name(Piece value);

/// Pieces of one part that stand in another one too.
struct Leak {
  Piece piece;
  Part from, to;
  std::int64_t count;   ///< pieces of `to` that stand in `from`
  std::string example;  ///< the first of them in UTF-8, cut after some characters
};

/// What the parts of a corpus have in common: train with val, train with test, val with test. A model's score on `to`
/// says less about text it has not seen, the more of it stands in `from`. Holds about `held` documents or long lines of
/// `to` at a time, up to 32 bytes of each, twice for those that stand in both, and reads the parts as often as that
/// takes.
std::vector<Leak> find_leaks(const Corpus& corpus, std::int64_t held = 2'000'000);

}  // namespace chargpt
