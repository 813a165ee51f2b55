#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {

/// A text as characters.
struct Documents {
  std::vector<std::u32string> texts;
  bool end_mark = false;  ///< documents end with the end mark (lines, JSONL)
  std::string path;       ///< names it in messages
};

/// A character that a vocabulary lacks, left out of the ids.
struct UnknownCharacter {
  std::int64_t document;
  std::int64_t index;  ///< position in the split of what followed it
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
  BeginMarks begin_marks = BeginMarks::none;

  /// Of the id at `index`, no mark at a beginning; characters left out count. For one thread at a time.
  Place place(std::int64_t index) const;
  Place place(const UnknownCharacter& character) const;
  /// How many unknown characters there are, and the first few different ones, for a message.
  std::string describe_unknown() const;

  std::int64_t mark_at(
      std::int64_t start) const;  ///< 1 where the document that starts there begins with a mark, else 0

  struct Found {
    std::int64_t document = 0, start = 0, end = 0;
  };
  mutable Found last_found{};  ///< by place(): mostly one asks for characters in their order
};

/// Encodes documents, with the marks and windows that `data` says; characters outside the vocabulary are left out and
/// listed.
ScoredText encode_for_scoring(const Documents& documents, const Tokenizer& tokenizer, const DataConfig& data = {});

/// The same of a text in files, which is read twice, some blocks at a time. kCachedFrom ids or more, two counted for
/// each document's marks, lie in an unnamed_cache_file(), if there can be one; else in memory, 4 bytes for each and up
/// to 8 for each document. 24 bytes are held for each unknown character. Error(out_of_memory) when that is more than
/// `available()` bytes, before it is taken; bad_data when the text changes between the readings; else as TextReader and
/// Spool. `available` is asked between the readings, since of standard input some is held from the first one on. Throws
/// Interrupted as `events` say.
ScoredText read_for_scoring(TextReader& text, const Tokenizer& tokenizer, const DataConfig& data, std::int64_t threads,
                            const PreparationEvents& events, const std::function<std::int64_t()>& available);

}  // namespace chargpt
