#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// What the files behind a path hold, as characters.
struct Documents {
  std::vector<std::u32string> texts;
  bool end_mark = false;    ///< documents end with the end mark (lines, JSONL)
  std::string path;         ///< as it was given
  std::uint64_t bytes = 0;  ///< size of the files together, unpacked
  std::string hash;         ///< XXH3-128 of the file's unpacked bytes, or over those of several: 32 hex digits
};

/// Reads all files that data_files() finds behind `path`, as `data` says: format, field, encoding, normalize. A leading
/// byte order mark is dropped from each; nothing else is changed, but that a line's end (LF or CRLF) is no part of a
/// document of `lines`. Documents without a character are left out. Errors: as data_files and read_data_file; bad_data
/// (empty, invalid in its encoding, a JSONL line without the text field: with its line).
Documents read_documents(const std::string& path, const DataConfig& data);

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

/// Reads, splits and encodes. `data.val_path` and `data.test_path` replace the fractions. A contiguous cut of texts of
/// n characters together is at floor((1 - val - test) * n) and floor((1 - test) * n). A split by document permutes
/// documents by data.split_seed; floor(fraction * documents) go to test and to val, at least one where the fraction is
/// above 0. A hashed split takes a number in [0, 1) from data.split_seed and the document's text: below `test` it is a
/// test document, below test + val one for validation.
/// The vocabulary is data.vocabulary's, or all characters but those that are rarer than data.min_count or beyond the
/// data.max_vocabulary most frequent ones (of equally frequent ones the lower code point stays).
/// Errors: as read_documents; usage when one text is to be split by document; bad_data when train, or a validation or
/// test part that was asked for, has no window of model.context + 1 ids for training (train) or too few ids for
/// eval.mode (val, test: 2, or a whole window), with the numbers and the setting to change.
Corpus load_corpus(const Config& config);

/// As load_corpus, with a vocabulary given by a model: bad_data when the text holds a character outside it, usage when
/// one is of bytes and the other is not.
Corpus load_corpus(const Config& config, const Tokenizer& tokenizer);

}  // namespace chargpt
