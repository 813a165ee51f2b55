#include "chargpt/base/scored_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "chargpt/base/memory.hpp"
#include "chargpt/base/preparation.hpp"
#include "chargpt/base/token_cache.hpp"
#include "chargpt/base/vocabulary.hpp"

namespace chargpt {
namespace {

/// How much a text is once it is encoded.
struct ScoredSize {
  std::uint64_t known = 0, unknown = 0, documents = 0;
  TextSummary summary;

  std::uint64_t ids() const { return known + 2 * documents; }  // at most two marks each
  std::uint64_t unknown_bytes() const { return unknown * sizeof(UnknownCharacter); }
  /// In memory, with what Offsets take while they grow, at sizes below 2^21.
  std::uint64_t bytes() const {
    constexpr std::uint64_t kDocument = 8;
    return ids() * sizeof(std::int32_t) + unknown_bytes() + documents * kDocument;
  }
};

ScoredSize size_of(TextReader& text, const Tokenizer& tokenizer, ThreadPool& pool,
                   const TextReader::Progress& progress) {
  ScoredSize size;
  std::vector<CharacterCounts> counts(static_cast<std::size_t>(pool.threads()));
  BlockWork work;
  work.at_once = [&](const TextBlock& block, std::size_t, std::size_t worker) { counts[worker].add(block.characters); };
  work.in_order = [&](const TextBlock& block, std::size_t) { size.documents += block.ends.size(); };
  size.summary = text.read(pool, work, progress);
  for (const CharacterCounts& of_worker : counts) {
    for (const char32_t character : of_worker.characters()) {
      (tokenizer.id(character) < 0 ? size.unknown : size.known) += of_worker.count(character);
    }
  }
  return size;
}

/// Takes ids, and the sizes of documents in ids, marks included.
struct IdSink {
  std::function<void(std::span<const std::int32_t>)> ids;
  std::function<void(std::int64_t size)> document;
};

/// Turns documents into ids, as they come.
class ScoringEncoder {
 public:
  /// documents_end: with the end mark, where the model has one. unknown: how many characters are, for memory.
  ScoringEncoder(const std::string& source, bool documents_end, const Tokenizer& tokenizer, const DataConfig& data,
                 std::uint64_t unknown, IdSink sink)
      : tokenizer_(tokenizer), end_mark_(documents_end && tokenizer.has_end_mark()), sink_(std::move(sink)) {
    scored_.source = source;
    scored_.unknown.reserve(unknown);
    scored_.begin_marks = end_mark_ ? begin_marks(data) : BeginMarks::none;
  }

  void add(std::u32string_view characters, bool ended) {
    ids_.clear();
    if (!std::exchange(begun_, true) && begins_with_mark(scored_.begin_marks, start_)) put(Tokenizer::end_mark_id());
    for (const char32_t character : characters) put_character(character);
    if (ended && end_mark_) put(Tokenizer::end_mark_id());
    sink_.ids(ids_);
    if (ended) end_document();
  }

  /// `split`: of all the ids that the sink was given.
  ScoredText finish(Split split) {
    scored_.split = std::move(split);
    return std::move(scored_);
  }

 private:
  void put(std::int32_t id) {
    ids_.push_back(id);
    ++end_;
  }
  void put_character(char32_t character) {
    const std::int32_t id = tokenizer_.id(character);
    if (id >= 0) return put(id);
    scored_.unknown.push_back({document_, end_, character});
  }
  void end_document() {
    sink_.document(end_ - start_);
    start_ = end_;
    ++document_;
    begun_ = false;
  }

  const Tokenizer& tokenizer_;
  bool end_mark_;
  IdSink sink_;
  ScoredText scored_;
  std::vector<std::int32_t> ids_;          // since add() was called
  std::int64_t document_ = 0, start_ = 0;  // the one that is read, and its first id
  std::int64_t end_ = 0;                   // ids so far
  bool begun_ = false;                     // the document that is read has a stretch already
};

/// Ids of documents in memory.
struct IdsInMemory {
  std::vector<std::int32_t> ids;
  Offsets documents;

  IdSink sink() {
    return {[this](std::span<const std::int32_t> more) { ids.insert(ids.end(), more.begin(), more.end()); },
            [this](std::int64_t size) { documents.add(size); }};
  }
  Split split(const DataConfig& data) { return {std::move(ids), std::move(documents), data.crosses_documents()}; }
};

/// Gives all documents of a text to an encoder.
using ReadInto = std::function<void(ScoringEncoder&)>;

ScoredText scored_in_memory(const std::string& source, bool end_mark, const Tokenizer& tokenizer,
                            const DataConfig& data, const ScoredSize& size, const ReadInto& read_into) {
  IdsInMemory in_memory;
  in_memory.ids.reserve(size.ids());
  ScoringEncoder encoder(source, end_mark, tokenizer, data, size.unknown, in_memory.sink());
  read_into(encoder);
  return encoder.finish(in_memory.split(data));
}

/// With the ids in a file.
ScoredText scored_in_file(const UnnamedFile& file, const std::string& source, bool end_mark, const Tokenizer& tokenizer,
                          const DataConfig& data, const ScoredSize& size, const ReadInto& read_into) {
  TokenFileWriter writer(file, 1, tokenizer.size() <= 1 << 16 ? 2 : 4);
  ScoringEncoder encoder(source, end_mark, tokenizer, data, size.unknown,
                         {[&](std::span<const std::int32_t> ids) { writer.append(0, ids); },
                          [&](std::int64_t ids) { writer.add_document(0, ids); }});
  read_into(encoder);
  writer.finish(nullptr);
  return encoder.finish({std::make_shared<const TokenFile>(file.reader()), 0, data.crosses_documents()});
}

}  // namespace

Place ScoredText::place(std::int64_t index) const {
  if (index < last_found.start || index >= last_found.end) {
    const std::int64_t found = split.document_at(index);
    last_found = {found, split.start(found), split.start(found + 1)};
  }
  const std::int64_t document = last_found.document, start = last_found.start;
  const auto before = [](const UnknownCharacter& a, const std::pair<std::int64_t, std::int64_t>& b) {
    return std::tie(a.document, a.index) < std::tie(b.first, b.second);
  };
  const auto first = std::lower_bound(unknown.begin(), unknown.end(), std::pair{document, start}, before);
  const auto last = std::lower_bound(unknown.begin(), unknown.end(), std::pair{document, index + 1}, before);
  return {document, index - start - mark_at(start) + (last - first)};
}

Place ScoredText::place(const UnknownCharacter& character) const {
  const std::int64_t document_start = split.start(character.document);
  const std::int64_t start = document_start + mark_at(document_start);
  const auto of_document = [](const UnknownCharacter& a, std::int64_t document) { return a.document < document; };
  const auto first = std::lower_bound(unknown.begin(), unknown.end(), character.document, of_document);
  return {character.document, character.index - start + (&character - &*first)};
}

std::string ScoredText::describe_unknown() const {
  UnknownCharacters characters;
  for (const UnknownCharacter& character : unknown) characters.add(character.code_point);
  return fmt::format("{} {} of {} {} not in the vocabulary: {}", characters.count,
                     characters.count == 1 ? "character" : "characters", source, characters.count == 1 ? "is" : "are",
                     characters.text());
}

std::int64_t ScoredText::mark_at(std::int64_t start) const {
  return begin_marks != BeginMarks::none && begins_with_mark(begin_marks, start) ? 1 : 0;
}

ScoredText encode_for_scoring(const Documents& documents, const Tokenizer& tokenizer, const DataConfig& data) {
  return scored_in_memory(documents.path, documents.end_mark, tokenizer, data, {}, [&](ScoringEncoder& encoder) {
    for (const auto& text : documents.texts) encoder.add(text, true);
  });
}

ScoredText read_for_scoring(TextReader& text, const Tokenizer& tokenizer, const DataConfig& data, std::int64_t threads,
                            const PreparationEvents& events, const std::function<std::int64_t()>& available) {
  ReadingProgress progress(events, 2 * stored_bytes(text).value_or(0));
  ThreadPool pool(reading_threads(progress.total(), threads));
  const ScoredSize size = size_of(text, tokenizer, pool, progress.of(text));
  const std::string source = input_name(text.path());
  std::optional<UnnamedFile> file;
  if (size.ids() >= kCachedFrom) file = unnamed_cache_file(data, "the ids of " + source);
  require_memory(file ? size.unknown_bytes() : size.bytes(), available(),
                 fmt::format("the {} of {}", file ? "unknown characters" : "ids", source),
                 "score a part of the text at a time");
  const auto read_into = [&](ScoringEncoder& encoder) {
    const auto encode = [&](const TextBlock& block, std::size_t) {
      for_each_stretch(block, [&](std::u32string_view characters, bool ended) { encoder.add(characters, ended); });
    };
    if (text.read(pool, {{}, encode}, progress.of(text)) != size.summary) fail_changed(text.path());
  };
  if (!file) return scored_in_memory(source, text.end_mark(), tokenizer, data, size, read_into);
  return scored_in_file(*file, source, text.end_mark(), tokenizer, data, size, read_into);
}

}  // namespace chargpt
