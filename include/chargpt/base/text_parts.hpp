#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {

/// A part for each of many documents, in two bits.
class PartList {
 public:
  explicit PartList(std::size_t size = 0) : bytes_((size + kPerByte - 1) / kPerByte), size_(size) {}  ///< all train
  std::size_t size() const { return size_; }
  Part operator[](std::size_t i) const;
  std::size_t count(Part part) const;
  void push_back(Part part);
  /// Of one that is train so far. Several threads may do this at once for several ones.
  void set(std::size_t i, Part part);

 private:
  static constexpr std::size_t kPerByte = 4;

  std::vector<std::uint8_t> bytes_;
  std::size_t size_;
};

/// What the first pass over a text finds.
struct TextSurvey {
  TextSummary summary;
  std::uint64_t characters = 0;
  std::uint64_t documents = 0;
  PartList hashed_parts;  ///< of each document, where data.split is hashed
};

/// The parts of things in a row: train before train_end, val before val_end, then test.
struct PartBounds {
  std::uint64_t train_end, val_end;

  Part part_of(std::uint64_t i) const { return i < train_end ? Part::train : i < val_end ? Part::val : Part::test; }
  std::uint64_t end_of(Part part) const;                    ///< the first thing behind the part
  std::uint64_t size_of(Part part, std::uint64_t n) const;  ///< of n things
};

/// How a text is dealt out.
struct TextParts {
  std::optional<PartBounds> cut;  ///< at characters; what of a document is in one part is a document of that
  PartList documents;             ///< without them: each document whole
};

/// The whole text is one part.
TextParts whole(Part part);

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
TextParts deal_parts(TextSurvey text, bool end_mark, const DataConfig& data, ThreadPool& pool);

}  // namespace chargpt
