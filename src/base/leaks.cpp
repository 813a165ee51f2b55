#include "chargpt/base/leaks.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "chargpt/base/file.hpp"
#include "chargpt/base/hash_set.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kShown = 60;  // characters of an example

using Ids = std::span<const std::int32_t>;

/// A document or line as far as it was read. Equal hashes are taken for equal ids.
class ReadPiece {
 public:
  void add(Ids ids) {
    hash_.update({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
    const Ids shown = ids.first(std::min(ids.size(), kShown - beginning_.size()));
    beginning_.insert(beginning_.end(), shown.begin(), shown.end());
    size_ += static_cast<std::int64_t>(ids.size());
  }
  std::int64_t size() const { return size_; }
  std::uint64_t hash() const { return hash_.digest_64(); }
  const std::vector<std::int32_t>& beginning() const { return beginning_; }
  void start_anew() {
    hash_.start_anew();
    beginning_.clear();
    size_ = 0;
  }

 private:
  Xxh3Hasher hash_;
  std::vector<std::int32_t> beginning_;  // to be shown
  std::int64_t size_ = 0;
};

/// Calls use(piece) with each document that has an id. A mark at its beginning is no part of it.
template <class Use>
void for_each_document(const Split& split, const Tokenizer& tokenizer, const Use& use) {
  ReadPiece document;
  split.for_each_document_piece([&](Ids ids, bool ended) {
    const bool marked =
        document.size() == 0 && tokenizer.has_end_mark() && !ids.empty() && ids[0] == Tokenizer::end_mark_id();
    document.add(ids.subspan(marked ? 1 : 0));
    if (!ended) return;
    use(document);
    document.start_anew();
  });
}

/// -1 for a character that has none, though there may be the unknown mark's.
std::int32_t own_id(const Tokenizer& tokenizer, char32_t character) {
  const std::int32_t id = tokenizer.id(character);
  return tokenizer.is_mark(id) ? -1 : id;
}

/// The same with each long line. Lines end at newlines, carriage returns and marks: what ends one makes no other line.
template <class Use>
void for_each_long_line(const Split& split, const Tokenizer& tokenizer, const Use& use) {
  ReadPiece line;
  const auto finish = [&] {
    if (line.size() >= kLongLine) use(line);
    line.start_anew();
  };
  const std::array ends = {own_id(tokenizer, U'\n'), own_id(tokenizer, U'\r'),
                           tokenizer.has_end_mark() ? Tokenizer::end_mark_id() : -1};
  split.for_each_document_piece([&](Ids ids, bool ended) {
    while (!ids.empty()) {
      const auto end =
          static_cast<std::size_t>(std::find_first_of(ids.begin(), ids.end(), ends.begin(), ends.end()) - ids.begin());
      line.add(ids.first(end));
      if (end < ids.size()) finish();
      ids = ids.subspan(std::min(ids.size(), end + 1));
    }
    if (ended) finish();
  });
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

/// One of `count` shares of all hashes.
struct Share {
  std::uint64_t number, count;
  bool holds(std::uint64_t hash) const { return (hash >> 32) % count == number; }  // HashSet goes by the low bits
};

template <class Use>
void for_each_hash(const Corpus& corpus, Piece piece, Part part, Share share, const Use& use) {
  for_each_piece(corpus.part(part), piece, corpus.tokenizer, [&](const ReadPiece& read) {
    const std::uint64_t hash = read.hash();
    if (share.holds(hash)) use(hash, read);
  });
}

/// Hashes of a share that stand in both parts. Those of `to`, mostly the smaller one, are held, not those of `from`.
HashSet common_pieces(const Corpus& corpus, Piece piece, Part from, Part to, Share share) {
  HashSet pieces, common;
  for_each_hash(corpus, piece, to, share, [&](std::uint64_t hash, const ReadPiece&) { pieces.insert(hash); });
  if (pieces.size() == 0) return common;
  for_each_hash(corpus, piece, from, share, [&](std::uint64_t hash, const ReadPiece&) {
    if (pieces.contains(hash)) common.insert(hash);
  });
  return common;
}

/// The shares that leave so many pieces at a time.
std::uint64_t share_count(const Corpus& corpus, Piece piece, Part part, std::int64_t held) {
  std::int64_t pieces = 0;
  for_each_piece(corpus.part(part), piece, corpus.tokenizer, [&](const ReadPiece&) { ++pieces; });
  return static_cast<std::uint64_t>((pieces + held - 1) / held);
}

Leak compare(const Corpus& corpus, Piece piece, Part from, Part to, std::int64_t held) {
  Leak leak{piece, from, to, 0, ""};
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  // of those that leak
  const std::uint64_t shares = share_count(corpus, piece, to, held);
  for (Share share{0, shares}; share.number < shares; ++share.number) {
    const HashSet common = common_pieces(corpus, piece, from, to, share);
    if (common.size() == 0) continue;
    std::int64_t number = 0;
    for_each_piece(corpus.part(to), piece, corpus.tokenizer, [&](const ReadPiece& read) {
      ++number;
      if (!common.contains(read.hash())) return;
      ++leak.count;
      if (number > first) return;
      first = number;
      leak.example = corpus.tokenizer.as_utf8(corpus.tokenizer.decode(read.beginning()));
    });
  }
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

std::vector<Leak> find_leaks(const Corpus& corpus, std::int64_t held) {
  constexpr std::array kPairs = {std::pair{Part::train, Part::val}, std::pair{Part::train, Part::test},
                                 std::pair{Part::val, Part::test}};
  std::vector<Leak> leaks;
  for (const Piece piece : {Piece::document, Piece::line}) {
    for (const auto& [from, to] : kPairs) {
      const Leak leak = compare(corpus, piece, from, to, held);
      if (leak.count > 0) leaks.push_back(leak);
    }
  }
  return leaks;
}

}  // namespace chargpt
