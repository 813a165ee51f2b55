#include "chargpt/base/scored_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "chargpt/base/memory.hpp"
#include "chargpt/base/preparation.hpp"
#include "chargpt/base/vocabulary.hpp"

namespace chargpt {
namespace {

/// How much a text is once it is encoded.
struct ScoredSize {
  std::uint64_t known = 0, unknown = 0, documents = 0;
  TextSummary summary;

  std::uint64_t ids() const { return known + 2 * documents; }  // at most two marks each
  /// With what Offsets take while they grow, at sizes below 2^21.
  std::uint64_t bytes() const {
    constexpr std::uint64_t kDocument = 8;
    return ids() * sizeof(std::int32_t) + unknown * sizeof(UnknownCharacter) + documents * kDocument;
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

/// Turns documents into ids, as they come.
class ScoringEncoder {
 public:
  /// documents_end: with the end mark, where the model has one.
  ScoringEncoder(const std::string& source, bool documents_end, const Tokenizer& tokenizer, const DataConfig& data)
      : tokenizer_(tokenizer), end_mark_(documents_end && tokenizer.has_end_mark()), cross_(data.crosses_documents()) {
    scored_.source = source;
    scored_.begin_marks = end_mark_ ? begin_marks(data) : BeginMarks::none;
  }

  void reserve(const ScoredSize& size) {
    ids_.reserve(size.ids());
    scored_.unknown.reserve(size.unknown);
  }

  void add(std::u32string_view characters, bool ended) {
    if (!std::exchange(begun_, true) && begins_with_mark(scored_.begin_marks, documents_.end())) put_mark();
    for (const char32_t character : characters) put(character);
    if (!ended) return;
    if (end_mark_) put_mark();
    documents_.add(static_cast<std::int64_t>(ids_.size()) - documents_.end());
    begun_ = false;
  }

  ScoredText finish() {
    scored_.split = Split(std::move(ids_), std::move(documents_), cross_);
    return std::move(scored_);
  }

 private:
  void put_mark() { ids_.push_back(Tokenizer::end_mark_id()); }
  void put(char32_t character) {
    const std::int32_t id = tokenizer_.id(character);
    if (id >= 0) return ids_.push_back(id);
    scored_.unknown.push_back({documents_.pieces(), static_cast<std::int64_t>(ids_.size()), character});
  }

  const Tokenizer& tokenizer_;
  bool end_mark_, cross_;
  ScoredText scored_;
  std::vector<std::int32_t> ids_;
  Offsets documents_;
  bool begun_ = false;  // the document that is read has a stretch already
};

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
  ScoringEncoder encoder(documents.path, documents.end_mark, tokenizer, data);
  for (const auto& text : documents.texts) encoder.add(text, true);
  return encoder.finish();
}

ScoredText read_for_scoring(TextReader& text, const Tokenizer& tokenizer, const DataConfig& data, std::int64_t threads,
                            const PreparationEvents& events, const std::function<std::int64_t()>& available) {
  ReadingProgress progress(events, 2 * stored_bytes(text).value_or(0));
  ThreadPool pool(reading_threads(progress.total(), threads));
  const ScoredSize size = size_of(text, tokenizer, pool, progress.of(text));
  const std::string source = input_name(text.path());
  require_memory(size.bytes(), available(), fmt::format("the ids of {}", source), "score a part of the text at a time");
  ScoringEncoder encoder(source, text.end_mark(), tokenizer, data);
  encoder.reserve(size);
  const auto encode = [&](const TextBlock& block, std::size_t) {
    for_each_stretch(block, [&](std::u32string_view characters, bool ended) { encoder.add(characters, ended); });
  };
  if (text.read(pool, {{}, encode}, progress.of(text)) != size.summary) fail_changed(text.path());
  return encoder.finish();
}

}  // namespace chargpt
