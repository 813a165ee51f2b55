#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/split.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

enum class Part : std::uint8_t { train, val, test };
std::string_view name(Part value);

/// Which documents of a part begin with the end mark, besides ending with it, so that a model learns how they begin: of
/// lines all of them, but those that windows reach from the line before, whose mark stands there.
enum class BeginMarks { none, first, all };
BeginMarks begin_marks(const DataConfig& data);
/// Whether a document before which there are so many ids in its part begins with one.
bool begins_with_mark(BeginMarks marks, std::int64_t ids_before);

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
  std::string file = {};  ///< where the ids are kept; empty: nowhere

  const Split& part(Part p) const;
};

/// How a preparation stands.
struct PreparationState {
  std::string text;         ///< the path that is being read
  std::uint64_t done = 0;   ///< bytes read of the files as they are stored, in all passes
  std::uint64_t total = 0;  ///< that will be read; 0: not known
};

/// Whom a preparation tells what happens. All may be empty.
struct PreparationEvents {
  std::function<void(const PreparationState&)> progress;  ///< every few MiB
  std::function<void(const std::string&)> notice;         ///< a line: it waits for another process, a file was
                                                          ///< damaged, the text looks decoded wrongly
  std::function<bool()> stopped;                          ///< asked as often; true ends it: Interrupted is thrown
};

/// A preparation was ended by PreparationEvents::stopped.
struct Interrupted : std::exception {};

/// Reads, splits and encodes. `data.val_path` and `data.test_path` replace the fractions. A contiguous cut of texts of
/// n characters together is at floor((1 - val - test) * n) and floor((1 - test) * n). A split by document permutes
/// documents by data.split_seed; floor(fraction * documents) go to test and to val, at least one where the fraction is
/// above 0. A hashed split takes a number in [0, 1) from data.split_seed and the document's text: below `test` it is a
/// test document, below test + val one for validation.
/// The vocabulary is data.vocabulary's, or all characters but those that are rarer than data.min_count or beyond the
/// data.max_vocabulary most frequent ones (of equally frequent ones the lower code point stays).
/// Where data.cache says so, the ids are kept in a file that is prepared once (see token_cache.hpp), and a part of them
/// at a time is in memory.
/// Errors: as TextReader; usage when one text is to be split by document; bad_data when train, or a validation or test
/// part that was asked for, has no window of model.context + 1 ids for training (train) or too few ids for eval.mode
/// (val, test: 2, or a whole window), with the numbers and the setting to change, and when a file changes while it is
/// read; cannot_create, io for the file of ids.
Corpus load_corpus(const Config& config, const PreparationEvents& events = {});

/// As load_corpus, with a vocabulary given by a model: bad_data when the text holds a character outside it, usage when
/// one is of bytes and the other is not.
Corpus load_corpus(const Config& config, const Tokenizer& tokenizer, const PreparationEvents& events = {});

}  // namespace chargpt
