#include "chargpt/base/leaks.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "chargpt/base/file.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kShown = 60;  // characters of an example

using Ids = std::span<const std::int32_t>;

/// A document or line as far as it was read. Equal hashes are taken for equal ids.
class ReadPiece {
 public:
  void add(Ids ids) {
    hash_->update({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
    const Ids shown = ids.first(std::min(ids.size(), kShown - beginning_.size()));
    beginning_.insert(beginning_.end(), shown.begin(), shown.end());
    size_ += static_cast<std::int64_t>(ids.size());
  }
  std::int64_t size() const { return size_; }
  std::string hash() const { return hash_->digest(); }
  const std::vector<std::int32_t>& beginning() const { return beginning_; }
  void start_anew() {
    hash_.emplace();
    beginning_.clear();
    size_ = 0;
  }

 private:
  std::optional<Xxh3Hasher> hash_{std::in_place};
  std::vector<std::int32_t> beginning_;  // to be shown
  std::int64_t size_ = 0;
};

/// Calls use(piece) with each document that has an id. A mark at its beginning is no part of it.
template <class Use>
void for_each_document(const Split& split, const Tokenizer& tokenizer, const Use& use) {
  for (std::int64_t d = 0; d < split.documents(); ++d) {
    ReadPiece document;
    split.for_each_piece(split.start(d), split.start(d + 1), [&](Ids ids) {
      const bool marked = document.size() == 0 && tokenizer.has_end_mark() && ids[0] == Tokenizer::end_mark_id();
      document.add(ids.subspan(marked ? 1 : 0));
    });
    use(document);
  }
}

/// The same with each long line. Lines end at newlines and marks.
template <class Use>
void for_each_long_line(const Split& split, const Tokenizer& tokenizer, const Use& use) {
  ReadPiece line;
  const auto finish = [&] {
    if (line.size() >= kLongLine) use(line);
    line.start_anew();
  };
  const auto ends_line = [&, newline = tokenizer.id(U'\n')](std::int32_t id) {
    return id == newline || (tokenizer.has_end_mark() && id == Tokenizer::end_mark_id());
  };
  for (std::int64_t d = 0; d < split.documents(); ++d) {
    split.for_each_piece(split.start(d), split.start(d + 1), [&](Ids ids) {
      while (!ids.empty()) {
        const auto end = static_cast<std::size_t>(std::find_if(ids.begin(), ids.end(), ends_line) - ids.begin());
        line.add(ids.first(end));
        if (end < ids.size()) finish();
        ids = ids.subspan(std::min(ids.size(), end + 1));
      }
    });
    finish();
  }
}

template <class Use>
void for_each_piece(const Split& split, Piece piece, const Tokenizer& tokenizer, const Use& use) {
  switch (piece) {
    case Piece::document:
      return for_each_document(split, tokenizer, use);
    case Piece::line:
      break;
  }
  for_each_long_line(split, tokenizer, use);
}

Leak compare(const Corpus& corpus, Piece piece, Part from, Part to) {
  std::unordered_set<std::string> known;
  for_each_piece(corpus.part(from), piece, corpus.tokenizer, [&](const ReadPiece& read) { known.insert(read.hash()); });
  Leak leak{piece, from, to, 0, ""};
  for_each_piece(corpus.part(to), piece, corpus.tokenizer, [&](const ReadPiece& read) {
    if (!known.contains(read.hash())) return;
    if (leak.count++ == 0) leak.example = corpus.tokenizer.as_utf8(corpus.tokenizer.decode(read.beginning()));
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
