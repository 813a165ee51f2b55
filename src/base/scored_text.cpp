#include "chargpt/base/scored_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace chargpt {

Place ScoredText::place(std::int64_t index) const {
  const std::int64_t document = split.document_at(index);
  const std::int64_t start = split.start(document);
  const auto before = [](const UnknownCharacter& a, const std::pair<std::int64_t, std::int64_t>& b) {
    return std::tie(a.document, a.index) < std::tie(b.first, b.second);
  };
  const auto first = std::lower_bound(unknown.begin(), unknown.end(), std::pair{document, start}, before);
  const auto last = std::lower_bound(unknown.begin(), unknown.end(), std::pair{document, index + 1}, before);
  return {document, index - start - mark_before(document) + (last - first)};
}

Place ScoredText::place(const UnknownCharacter& character) const {
  const std::int64_t start = split.start(character.document) + mark_before(character.document);
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

std::int64_t ScoredText::mark_before(std::int64_t document) const {
  return begins_with_mark(begin_marks, split.start(document)) ? 1 : 0;
}

ScoredText encode_for_scoring(const Documents& documents, const Tokenizer& tokenizer, const DataConfig& data) {
  const bool end_mark = documents.end_mark && tokenizer.has_end_mark();
  ScoredText scored{{}, {}, documents.path, end_mark ? begin_marks(data) : BeginMarks::none};
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> starts = {0};
  for (const auto& text : documents.texts) {
    if (begins_with_mark(scored.begin_marks, starts.back())) ids.push_back(Tokenizer::end_mark_id());
    for (const char32_t code_point : text) {
      const std::int32_t id = tokenizer.id(code_point);
      if (id < 0) {
        scored.unknown.push_back(
            {static_cast<std::int64_t>(starts.size()) - 1, static_cast<std::int64_t>(ids.size()), code_point});
      } else {
        ids.push_back(id);
      }
    }
    if (end_mark) ids.push_back(Tokenizer::end_mark_id());
    starts.push_back(static_cast<std::int64_t>(ids.size()));
  }
  scored.split = Split(std::move(ids), std::move(starts), data.crosses_documents());
  return scored;
}

}  // namespace chargpt
