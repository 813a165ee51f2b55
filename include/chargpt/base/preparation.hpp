#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/text_parts.hpp"
#include "chargpt/base/text_reader.hpp"
#include "chargpt/base/vocabulary.hpp"

namespace chargpt {

inline constexpr std::size_t kParts = 3;  ///< of a corpus: the values of Part, in order

/// A text that a config names, and the part it is; the main one, without a part, is dealt out.
struct NamedText {
  TextReader reader;
  std::optional<Part> part;
};

/// All of them, in the order in which they are read: data.path, data.val_path, data.test_path.
std::vector<NamedText> named_texts(const DataConfig& data);

/// Bytes of the files as they are stored; nothing where standard input is among them. Errors as FileReader.
std::optional<std::uint64_t> stored_bytes(const TextReader& text);
std::optional<std::uint64_t> stored_bytes(const std::vector<NamedText>& texts);

/// Error(bad_data): a later reading of the text did not find what the first one did.
[[noreturn]] void fail_changed(const std::string& path);

/// Tells `events`, as long as that lives, how the reading of texts goes, one reading after the other.
class ReadingProgress {
 public:
  /// total: bytes of all readings; 0: not known.
  ReadingProgress(const PreparationEvents& events, std::uint64_t total) : events_(events), total_(total) {}
  std::uint64_t total() const { return total_; }
  /// For the next reading. Throws Interrupted when it is to be stopped.
  TextReader::Progress of(const TextReader& text);

 private:
  const PreparationEvents& events_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
};

/// Turns the texts of a config into ids in two passes, with a few MiB of them in memory: the first counts characters
/// and documents and hashes the bytes, the second encodes. Memory grows by two bits a document.
class Preparation {
 public:
  /// Takes ids, and the sizes of documents in ids, marks included; both in order within each part, the one sooner or
  /// later than the other.
  struct Sink {
    std::function<void(Part, std::span<const std::int32_t>)> ids;
    std::function<void(Part, std::int64_t size)> document;
  };

  /// Makes the first pass. `vocabulary`: given, or else made of the data. `texts` must outlive this. Errors as
  /// load_corpus().
  Preparation(std::vector<NamedText>& texts, DataConfig data, const std::optional<Tokenizer>& vocabulary,
              std::int64_t threads, const PreparationEvents& events);

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const Fingerprint& fingerprint() const { return fingerprint_; }
  /// About how many ids each part is going to have, or somewhat more.
  const std::array<std::uint64_t, kParts>& room() const { return room_; }
  /// Makes the second pass. Error(bad_data) when a text is not what it was in the first.
  void encode(const Sink& sink);

 private:
  TextSurvey survey(NamedText& text);
  void settle_vocabulary(const std::optional<Tokenizer>& vocabulary);
  void require_known();
  void deal_out(std::vector<TextSurvey> surveys);

  std::vector<NamedText>& texts_;
  DataConfig data_;
  ReadingProgress progress_;
  ThreadPool pool_;
  CharacterCounts counts_;
  std::vector<TextSummary> summaries_;  // by text
  std::vector<TextParts> parts_;        // by text
  std::array<std::uint64_t, kParts> room_{};
  std::optional<Tokenizer> tokenizer_;
  Fingerprint fingerprint_;
};

}  // namespace chargpt
