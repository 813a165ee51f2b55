#include "chargpt/commands/char_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kBuffered = 1 << 16;
constexpr std::int64_t kEndMarkClass = static_cast<std::int64_t>(CharClass::other) + 1;  // the last row of the table

std::vector<std::int64_t> classes(const Tokenizer& tokenizer) {
  std::vector<std::int64_t> by_id;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    const char32_t code_point = decode_utf8(tokenizer.as_utf8(tokenizer.symbol(id)), "vocabulary")[0];
    by_id.push_back(tokenizer.is_mark(id) ? kEndMarkClass : static_cast<std::int64_t>(char_class(code_point)));
  }
  return by_id;
}

/// The line, from 1 in each document, that every id stands in; a line ends with its newline.
std::vector<std::int64_t> lines(const Split& split, const Tokenizer& tokenizer) {
  const std::int32_t newline = tokenizer.id(U'\n');
  std::vector<std::int64_t> by_index;
  std::int64_t line = 1;
  split.for_each_document_piece([&](std::span<const std::int32_t> ids, bool ended) {
    for (const std::int32_t id : ids) {
      by_index.push_back(line);
      if (id == newline) ++line;
    }
    if (ended) line = 1;
  });
  return by_index;
}

}  // namespace

PerCharFile::PerCharFile(const std::string& path, const ScoredText& text, const Tokenizer& tokenizer)
    : file_(path), text_(text), tokenizer_(tokenizer) {}

void PerCharFile::add(const CharScore& score) {
  put(text_.place(score.index), tokenizer_.as_utf8(tokenizer_.symbol(score.id)), score.nats, score.rank, score.entropy);
}

void PerCharFile::add(const UnknownCharacter& character, double nats) {
  put(text_.place(character), encode_utf8(character.code_point), nats, nullptr, nullptr);
}

void PerCharFile::put(const Place& place, const std::string& symbol, double nats, const Json& rank,
                      const Json& entropy) {
  const Json line = {{"document", place.document + 1},
                     {"offset", place.offset},
                     {"char", symbol},
                     {"nats", nats},
                     {"rank", rank},
                     {"entropy", entropy}};
  pending_ += to_json_line(line) + "\n";
  if (pending_.size() < kBuffered) return;
  file_.write(pending_);
  pending_.clear();
}

void PerCharFile::close() {
  file_.write(pending_);
  file_.close();
}

bool PerCharFile::stop() {
  if (file_.streams()) close();
  return file_.streams();
}

PartTable::PartTable(PartKind kind, const ScoredText& text, const Tokenizer& tokenizer)
    : kind_(kind), text_(text), class_of_(classes(tokenizer)) {
  if (kind == PartKind::line) line_of_ = lines(text.split, tokenizer);
}

void PartTable::add(const CharScore& score) {
  if (kind_ == PartKind::none) return;
  const std::int64_t line = kind_ == PartKind::line ? line_of_[static_cast<std::size_t>(score.index)] : 0;
  add(key(text_.place(score.index).document, line, class_of_[static_cast<std::size_t>(score.id)]), score.nats);
}

void PartTable::add(const UnknownCharacter& character, double nats) {
  if (kind_ == PartKind::none) return;
  const auto character_class = static_cast<std::int64_t>(char_class(character.code_point));
  add(key(character.document, line_at(character.document, character.index), character_class), nats);
}

std::int64_t PartTable::line_at(std::int64_t document, std::int64_t index) const {
  if (kind_ != PartKind::line) return 0;
  const std::int64_t first = text_.split.start(document), last = text_.split.start(document + 1) - 1;
  return last < first ? 1 : line_of_[static_cast<std::size_t>(std::min(index, last))];  // behind the last id: its line
}

PartTable::Key PartTable::key(std::int64_t document, std::int64_t line, std::int64_t character_class) const {
  switch (kind_) {
    case PartKind::line:
      return {document, line};
    case PartKind::character_class:
      return {character_class, 0};
    case PartKind::none:
    case PartKind::document:
      break;
  }
  return {document, 0};
}

void PartTable::add(const Key& part, double nats) {
  Sum& sum = sums_[part];
  ++sum.characters;
  sum.nats += nats;
}

std::string PartTable::name_of(const Key& part) const {
  switch (kind_) {
    case PartKind::line:
      return text_.split.documents() == 1 ? fmt::format("{}", part.second)
                                          : fmt::format("{}:{}", part.first + 1, part.second);
    case PartKind::character_class:
      return part.first == kEndMarkClass ? "end mark" : std::string(name(static_cast<CharClass>(part.first)));
    case PartKind::none:
    case PartKind::document:
      break;
  }
  return fmt::format("{}", part.first + 1);
}

Json PartTable::rows() const {
  Json rows = Json::array();
  for (const auto& [part, sum] : sums_) {
    rows.push_back({{"part", name_of(part)},
                    {"characters", sum.characters},
                    {"nats_per_char", sum.nats / static_cast<double>(sum.characters)}});
  }
  return rows;
}

}  // namespace chargpt
