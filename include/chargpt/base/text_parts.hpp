#pragma once

#include <cstdint>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {

/// What the first pass over a text finds.
struct TextSurvey {
  TextSummary summary;
  std::vector<std::uint64_t> sizes;  ///< characters of each document
  std::vector<double> units;  ///< of each document, for data.split hashed: a number in [0, 1) for it and the seed
};

/// The next `size` characters of a text are a document of a part.
struct PartPiece {
  Part part;
  std::uint64_t size;
};

/// The number in [0, 1) that a hashed split gives a document, whose characters come in pieces, whatever stands beside
/// it.
class HashedUnit {
 public:
  explicit HashedUnit(std::int64_t seed);
  void add(std::u32string_view characters);
  double unit() const;

 private:
  Xxh3Hasher hash_;
};

/// How data.split deals out the main text, as load_corpus() says it: its pieces in order. `end_mark`: its documents end
/// with one. Error(usage) when one text is to be split by document.
std::vector<PartPiece> deal_parts(const TextSurvey& text, bool end_mark, const DataConfig& data);

}  // namespace chargpt
