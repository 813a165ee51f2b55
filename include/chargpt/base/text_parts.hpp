#pragma once

#include <cstdint>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/offsets.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {

/// What the first pass over a text finds.
struct TextSurvey {
  TextSummary summary;
  Offsets documents;               ///< in characters
  std::vector<Part> hashed_parts;  ///< of each document, where data.split is hashed
};

/// How a text is dealt out: pieces of it in order, each a document of a part. A byte or two for each.
struct PartPieces {
  Offsets pieces;           ///< in characters
  std::vector<Part> parts;  ///< of each piece
};

/// The part that a hashed split gives a document, whose characters come in pieces, whatever stands beside it.
class HashedPart {
 public:
  explicit HashedPart(const DataConfig& data);
  void add(std::u32string_view characters);
  Part part() const;
  void start_anew();

 private:
  std::int64_t seed_;
  double val_, test_;  // fractions
  Xxh3Hasher hash_;
};

/// How data.split deals out the main text, as load_corpus() says it. `end_mark`: its documents end with one.
/// Error(usage) when one text is to be split by document.
PartPieces deal_parts(TextSurvey text, bool end_mark, const DataConfig& data, ThreadPool& pool);

}  // namespace chargpt
