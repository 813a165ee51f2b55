#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chargpt/base/corpus.hpp"

namespace chargpt {

/// A character that a vocabulary lacks, left out of the ids.
struct UnknownCharacter {
  std::int64_t document;
  std::int64_t index;  ///< in the split's ids, of what followed it
  char32_t code_point;
};

/// Where a character stands: its document, and how many characters of that document come before it.
struct Place {
  std::int64_t document;
  std::int64_t offset;
};

/// A text to be scored with a fixed vocabulary.
struct ScoredText {
  Split split;
  std::vector<UnknownCharacter> unknown;  ///< in order
  std::string source;                     ///< names it in messages

  Place place(std::int64_t index) const;  ///< of split.ids[index]; characters left out count
  Place place(const UnknownCharacter& character) const;
  /// How many unknown characters there are, and the first few different ones, for a message.
  std::string describe_unknown() const;
};

/// Encodes documents; characters outside the vocabulary are left out and listed.
ScoredText encode_for_scoring(const Documents& documents, const Tokenizer& tokenizer);

}  // namespace chargpt
