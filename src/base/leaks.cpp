#include "chargpt/base/leaks.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>
#include <utility>

namespace chargpt {
namespace {

constexpr std::size_t kShown = 60;  // characters of an example

using Ids = std::span<const std::int32_t>;

/// Equal ids are equal bytes.
std::string_view bytes_of(Ids ids) { return {reinterpret_cast<const char*>(ids.data()), ids.size_bytes()}; }

template <typename Use>
void for_each_document(const Split& split, Use use) {
  for (std::size_t d = 0; d + 1 < split.starts.size(); ++d) {
    use(Ids(split.ids).subspan(static_cast<std::size_t>(split.starts[d]),
                               static_cast<std::size_t>(split.starts[d + 1] - split.starts[d])));
  }
}

template <typename Use>
void for_each_long_line(Ids document, std::int32_t newline, Use use) {
  auto begin = document.begin();
  while (begin != document.end()) {
    const auto end = std::find(begin, document.end(), newline);
    if (end - begin >= kLongLine) use(Ids(begin, end));
    begin = end == document.end() ? end : end + 1;
  }
}

template <typename Use>
void for_each_piece(const Split& split, Piece piece, const Tokenizer& tokenizer, Use use) {
  switch (piece) {
    case Piece::document:
      return for_each_document(split, use);
    case Piece::line:
      break;
  }
  for_each_document(split, [&](Ids document) {
    if (!document.empty() && tokenizer.has_end_mark()) document = document.first(document.size() - 1);
    for_each_long_line(document, tokenizer.id(U'\n'), use);
  });
}

std::string example(Ids ids, const Tokenizer& tokenizer) {
  const Ids shown = ids.first(std::min(ids.size(), kShown));
  return tokenizer.as_utf8(tokenizer.decode({shown.begin(), shown.end()}));
}

Leak compare(const Corpus& corpus, Piece piece, Part from, Part to) {
  std::unordered_set<std::string_view> known;
  for_each_piece(corpus.part(from), piece, corpus.tokenizer, [&](Ids ids) { known.insert(bytes_of(ids)); });
  Leak leak{piece, from, to, 0, ""};
  for_each_piece(corpus.part(to), piece, corpus.tokenizer, [&](Ids ids) {
    if (!known.contains(bytes_of(ids))) return;
    if (leak.count++ == 0) leak.example = example(ids, corpus.tokenizer);
  });
  return leak;
}

}  // namespace

std::string_view name(Piece value) {
  switch (value) {
    case Piece::document:
      return "document";
    case Piece::line:
      return "line";
  }
  return {};
}

std::vector<Leak> find_leaks(const Corpus& corpus) {
  constexpr std::array kPairs = {std::pair{Part::train, Part::val}, std::pair{Part::train, Part::test},
                                 std::pair{Part::val, Part::test}};
  std::vector<Leak> leaks;
  for (const Piece piece : {Piece::document, Piece::line}) {
    for (const auto& [from, to] : kPairs) {
      const Leak leak = compare(corpus, piece, from, to);
      if (leak.count > 0) leaks.push_back(leak);
    }
  }
  return leaks;
}

}  // namespace chargpt
