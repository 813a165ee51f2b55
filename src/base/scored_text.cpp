#include "chargpt/base/scored_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace chargpt {

Place ScoredText::place(std::int64_t index) const {
  const auto next = std::upper_bound(split.starts.begin(), split.starts.end(), index);
  const std::int64_t document = next - split.starts.begin() - 1;
  const std::int64_t start = split.starts[static_cast<std::size_t>(document)];
  const auto before = [](const UnknownCharacter& a, const std::pair<std::int64_t, std::int64_t>& b) {
    return std::tie(a.document, a.index) < std::tie(b.first, b.second);
  };
  const auto first = std::lower_bound(unknown.begin(), unknown.end(), std::pair{document, start}, before);
  const auto last = std::lower_bound(unknown.begin(), unknown.end(), std::pair{document, index + 1}, before);
  return {document, index - start + (last - first)};
}

Place ScoredText::place(const UnknownCharacter& character) const {
  const std::int64_t start = split.starts[static_cast<std::size_t>(character.document)];
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

ScoredText encode_for_scoring(const Documents& documents, const Tokenizer& tokenizer) {
  ScoredText scored{{}, {}, documents.path};
  Split& split = scored.split;
  for (const auto& text : documents.texts) {
    for (const char32_t code_point : text) {
      const std::int32_t id = tokenizer.id(code_point);
      if (id < 0) {
        scored.unknown.push_back({split.documents(), static_cast<std::int64_t>(split.ids.size()), code_point});
      } else {
        split.ids.push_back(id);
      }
    }
    if (documents.end_mark && tokenizer.has_end_mark()) split.ids.push_back(Tokenizer::end_mark_id());
    split.starts.push_back(static_cast<std::int64_t>(split.ids.size()));
  }
  return scored;
}

}  // namespace chargpt
