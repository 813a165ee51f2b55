#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// A text file (one document) or a JSONL file (one document a line), decoded.
struct Documents {
  std::vector<std::u32string> texts;
  bool end_mark = false;  ///< documents end with the end mark (JSONL)
  std::string path;
  std::uint64_t bytes = 0;  ///< size of the file
  std::string hash;         ///< XXH3-128 of the file's bytes, 32 hex digits
};

/// Reads and decodes a whole file. A leading byte order mark is dropped; nothing else is changed. Errors: no_input
/// (missing, a folder), io (unreadable), bad_data (empty, invalid UTF-8, a JSONL line without the text field: with its
/// line).
Documents read_documents(const std::string& path, DataFormat format, const std::string& field);

enum class Part { train, val, test };
std::string_view name(Part value);

/// Token ids of one split. Document d is ids[starts[d], starts[d + 1]), its end mark included where there is one.
struct Split {
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> starts = {0};
  std::int64_t documents() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t document_size(std::int64_t d) const {
    return starts[static_cast<std::size_t>(d) + 1] - starts[static_cast<std::size_t>(d)];
  }
};

/// Says which data a run was trained on, so that a resume on other data can be refused.
struct Fingerprint {
  std::uint64_t bytes = 0;  ///< of all files together
  std::string hash;         ///< XXH3-128 over the hashes of train, val and test files
  bool operator==(const Fingerprint&) const = default;
};

/// The splits of a config's data, and the vocabulary of all of them.
struct Corpus {
  Tokenizer tokenizer;
  Split train, val, test;  ///< val and test may be empty
  Fingerprint fingerprint;

  const Split& part(Part p) const;
};

/// Reads, splits and encodes. `data.val_path` and `data.test_path` replace the fractions. A contiguous cut of a text of
/// n characters is at floor((1 - val - test) * n) and floor((1 - test) * n). A split by document permutes documents by
/// data.split_seed; floor(fraction * documents) go to test and to val, at least one where the fraction is above 0.
/// Errors: as read_documents; bad_data when train, or a validation or test part that was asked for, has no window of
/// model.context + 1 ids for training (train) or too few ids for eval.mode (val, test: 2, or a whole window), with the
/// numbers and the setting to change.
Corpus load_corpus(const Config& config);

/// As load_corpus, with a vocabulary given by a model: bad_data when the text holds a character outside it.
Corpus load_corpus(const Config& config, const Tokenizer& tokenizer);

}  // namespace chargpt
