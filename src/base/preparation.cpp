#include "chargpt/base/preparation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "chargpt/base/file.hpp"

namespace chargpt {
namespace {

bool any_end_mark(const std::vector<NamedText>& texts) {
  return std::any_of(texts.begin(), texts.end(), [](const NamedText& text) { return text.reader.end_mark(); });
}

Fingerprint fingerprint_of(const std::vector<NamedText>& texts, const std::vector<TextSummary>& summaries) {
  std::array<std::string, kParts> hashes;
  Fingerprint fingerprint;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    hashes[static_cast<std::size_t>(texts[t].part.value_or(Part::train))] = summaries[t].hash;
    fingerprint.bytes += summaries[t].bytes;
  }
  fingerprint.hash = xxh3_128(fmt::format("{}\n{}\n{}", hashes[0], hashes[1], hashes[2]));
  return fingerprint;
}

/// Those of the counted characters that have no id.
UnknownCharacters unknown_of(const CharacterCounts& counts, const Tokenizer& tokenizer) {
  UnknownCharacters unknown;
  for (const char32_t character : counts.characters()) {
    if (tokenizer.id(character) >= 0) continue;
    unknown.add(character);
    unknown.count += static_cast<std::int64_t>(counts.count(character)) - 1;
  }
  return unknown;
}

/// Says so where a text looks as if it were decoded wrongly.
void warn_of_encoding(const CharacterCounts& counts, std::size_t characters, const std::string& path,
                      const std::function<void(const std::string&)>& notice) {
  const std::string advice = "if they are not meant, see data.encoding and `chargpt data stats`";
  if (counts.count(U'\0') > counts.total() / 10) {
    notice(fmt::format("warning: {}: {} of {} characters are NUL, as in UTF-16 or UTF-32 read as UTF-8; {}", path,
                       counts.count(U'\0'), counts.total(), advice));
  } else if (characters > kSuspiciouslyManyCharacters) {
    notice(
        fmt::format("warning: {}: {} different characters, more than most texts have; {}", path, characters, advice));
  }
}

/// As a sum of signs, which takes many ids at once.
bool any_negative(std::span<const std::int32_t> ids) {
  return std::accumulate(ids.begin(), ids.end(), std::int32_t{0}, std::bit_or<>()) < 0;
}

/// Finds the first character of a text that has no id.
class UnknownFinder {
 public:
  explicit UnknownFinder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  bool found() const { return found_; }
  const FirstUnknown& first() const { return at_; }
  std::size_t document() const { return document_; }

  void look_at(std::u32string_view characters, bool ended) {
    if (found_) return;
    for (const char32_t character : characters) {
      at_.code_point = character;
      found_ = tokenizer_.id(character) < 0;
      if (found_) return;
      ++at_.position;
      if (character == U'\n') ++at_.line;
    }
    if (!ended) return;
    at_ = {};
    ++document_;
  }

 private:
  const Tokenizer& tokenizer_;
  FirstUnknown at_;
  std::size_t document_ = 0;
  bool found_ = false;
};

/// Ids of a text that a part is going to have. Of documents dealt whole that is known only of all of them: train,
/// mostly nearly all, has room for as many, the others for their share of documents.
std::uint64_t room_for(Part part, const TextParts& parts, std::uint64_t characters, std::uint64_t marks) {
  constexpr std::uint64_t kFirstMark = 1;
  if (parts.cut) {
    const std::uint64_t size = parts.cut->size_of(part, characters);
    return size > 0 ? size + marks + kFirstMark : 0;
  }
  if (part == Part::train) return characters + marks + kFirstMark;
  const auto share = static_cast<double>(parts.documents.count(part)) / static_cast<double>(parts.documents.size());
  return static_cast<std::uint64_t>(share * static_cast<double>(characters + marks)) + kFirstMark;
}

/// Hands ids on to the parts. Those of each are gathered first, since documents may be of a few ids.
class Gatherer {
 public:
  explicit Gatherer(const Preparation::Sink& sink) : sink_(sink) {
    for (PartIds& to : parts_) to.gathered.reserve(kGathered);
  }

  void add(Part part, std::span<const std::int32_t> ids) {
    PartIds& to = parts_[static_cast<std::size_t>(part)];
    to.size += static_cast<std::int64_t>(ids.size());
    if (to.gathered.size() + ids.size() > kGathered) hand_on(part);
    if (ids.size() > kGathered) return sink_.ids(part, ids);
    to.gathered.insert(to.gathered.end(), ids.begin(), ids.end());
  }
  /// What the part was given since the last time is a document.
  void end_document(Part part) {
    PartIds& of = parts_[static_cast<std::size_t>(part)];
    sink_.document(part, of.size - std::exchange(of.documents_end, of.size));
  }
  /// Ids that the part has been given.
  std::int64_t size(Part part) const { return parts_[static_cast<std::size_t>(part)].size; }
  void finish() {
    for (const Part part : {Part::train, Part::val, Part::test}) hand_on(part);
  }

 private:
  static constexpr std::size_t kGathered = 1 << 13;
  struct PartIds {
    std::vector<std::int32_t> gathered;
    std::int64_t size = 0, documents_end = 0;
  };

  void hand_on(Part part) {
    std::vector<std::int32_t>& gathered = parts_[static_cast<std::size_t>(part)].gathered;
    sink_.ids(part, gathered);
    gathered.clear();
  }

  const Preparation::Sink& sink_;
  std::array<PartIds, kParts> parts_;
};

/// Deals the ids of a text out, with the marks that belong to them.
class Dealer {
 public:
  Dealer(const TextParts& parts, bool end_mark, BeginMarks begin_marks, Gatherer& gatherer)
      : parts_(parts), end_mark_(end_mark), begin_marks_(begin_marks), gatherer_(gatherer) {}

  /// The next ids of a document; ended: it ends behind them. False when there are more documents than have a part.
  bool deal(std::span<const std::int32_t> ids, bool ended) {
    while (!ids.empty()) {
      if (!parts_.cut && document_ == parts_.documents.size()) return false;
      const Part part = parts_.cut ? parts_.cut->part_of(position_) : parts_.documents[document_];
      if (!open_) begin_piece(part);
      const std::uint64_t left = parts_.cut ? parts_.cut->end_of(part) - position_ : ids.size();
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(ids.size(), left));
      gatherer_.add(part, ids.first(count));
      ids = ids.subspan(count);
      position_ += count;
      if (parts_.cut && count == left) finish_piece();
    }
    if (!ended) return true;
    if (open_) finish_piece();
    ++document_;
    return true;
  }

 private:
  static constexpr std::array kMark = {Tokenizer::end_mark_id()};

  void begin_piece(Part part) {
    open_ = part;
    if (begins_with_mark(begin_marks_, gatherer_.size(part))) gatherer_.add(part, kMark);
  }
  void finish_piece() {
    if (end_mark_) gatherer_.add(*open_, kMark);
    gatherer_.end_document(*open_);
    open_.reset();
  }

  const TextParts& parts_;
  bool end_mark_;
  BeginMarks begin_marks_;
  Gatherer& gatherer_;
  std::uint64_t position_ = 0;  // in characters
  std::size_t document_ = 0;
  std::optional<Part> open_;  // of the piece of which there were ids
};

}  // namespace

std::vector<NamedText> named_texts(const DataConfig& data) {
  std::vector<NamedText> texts;
  texts.push_back({TextReader(data.path, data), std::nullopt});
  if (!data.val_path.empty()) texts.push_back({TextReader(data.val_path, data), Part::val});
  if (!data.test_path.empty()) texts.push_back({TextReader(data.test_path, data), Part::test});
  return texts;
}

std::optional<std::uint64_t> stored_bytes(const TextReader& text) {
  if (text.is_standard_input()) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const FileStamp& stamp : text.stamps()) bytes += stamp.size;
  return bytes;
}

std::optional<std::uint64_t> stored_bytes(const std::vector<NamedText>& texts) {
  std::uint64_t bytes = 0;
  for (const NamedText& text : texts) {
    const auto of_text = stored_bytes(text.reader);
    if (!of_text) return std::nullopt;
    bytes += *of_text;
  }
  return bytes;
}

void fail_changed(const std::string& path) {
  fail_bad_data(fmt::format("{} changed while it was read: let nothing write it meanwhile, or read a copy", path));
}

TextReader::Progress ReadingProgress::of(const TextReader& text) {
  return [this, path = text.path(), before = done_](std::uint64_t bytes) {
    done_ = before + bytes;
    if (events_.stopped && events_.stopped()) throw Interrupted();
    if (events_.progress) events_.progress({path, done_, total_});
  };
}

Preparation::Preparation(std::vector<NamedText>& texts, DataConfig data, const std::optional<Tokenizer>& vocabulary,
                         std::int64_t threads, const PreparationEvents& events)
    : texts_(texts),
      data_(std::move(data)),
      progress_(events, 2 * stored_bytes(texts).value_or(0)),
      pool_(reading_threads(progress_.total(), threads)) {
  std::vector<TextSurvey> surveys;
  std::transform(texts.begin(), texts.end(), std::back_inserter(surveys),
                 [this](NamedText& text) { return survey(text); });
  std::transform(surveys.begin(), surveys.end(), std::back_inserter(summaries_),
                 [](const TextSurvey& survey) { return survey.summary; });
  fingerprint_ = fingerprint_of(texts, summaries_);
  if (events.notice && data_.format != DataFormat::bytes) {
    warn_of_encoding(counts_, counts_.characters().size(), input_name(data_.path), events.notice);
  }
  settle_vocabulary(vocabulary);
  require_known();
  deal_out(std::move(surveys));
}

TextSurvey Preparation::survey(NamedText& text) {
  const bool hashed = !text.part && data_.split == SplitMethod::hashed;
  TextSurvey survey;
  std::vector<CharacterCounts> counts(static_cast<std::size_t>(pool_.threads()));
  HashedPart part(data_);
  BlockWork work;
  work.at_once = [&](const TextBlock& block, std::size_t, std::size_t worker) { counts[worker].add(block.characters); };
  work.in_order = [&](const TextBlock& block, std::size_t) {
    for_each_stretch(block, [&](std::u32string_view characters, bool ended) {
      survey.characters += characters.size();
      if (hashed) part.add(characters);
      if (!ended) return;
      ++survey.documents;
      if (!hashed) return;
      survey.hashed_parts.push_back(part.part());
      part.start_anew();
    });
  };
  survey.summary = text.reader.read(pool_, work, progress_.of(text.reader));
  for (const CharacterCounts& of_worker : counts) counts_.add(of_worker);
  return survey;
}

void Preparation::settle_vocabulary(const std::optional<Tokenizer>& vocabulary) {
  tokenizer_ = vocabulary ? *vocabulary : counts_.tokenizer(data_, any_end_mark(texts_));
  if (tokenizer_->has_end_mark()) return;
  for (const NamedText& text : texts_) {
    if (!text.reader.end_mark()) continue;
    fail_bad_data(
        fmt::format("{}: its documents end with {}, which the vocabulary lacks; use data.format=text, or the "
                    "vocabulary of a model trained on documents",
                    text.reader.path(), kEndMark));
  }
}

void Preparation::require_known() {
  const UnknownCharacters unknown = unknown_of(counts_, *tokenizer_);
  if (unknown.count == 0) return;
  for (NamedText& text : texts_) {
    UnknownFinder finder(*tokenizer_);
    text.reader.read(pool_, {{}, [&](const TextBlock& block, std::size_t) {
                               for_each_stretch(block, [&](std::u32string_view characters, bool ended) {
                                 finder.look_at(characters, ended);
                               });
                             }});
    if (!finder.found()) continue;
    const std::string source = text.reader.end_mark()
                                   ? fmt::format("{}, document {}", text.reader.path(), finder.document() + 1)
                                   : text.reader.path();
    refuse_unknown(*tokenizer_, source, finder.first(), unknown, counts_.total());
  }
}

void Preparation::deal_out(std::vector<TextSurvey> surveys) {
  for (std::size_t t = 0; t < texts_.size(); ++t) {
    const NamedText& text = texts_[t];
    const std::uint64_t characters = surveys[t].characters, documents = surveys[t].documents;
    const std::uint64_t begin_mark = begin_marks(data_) == BeginMarks::all ? 1 : 0;
    const std::uint64_t marks = documents * (begin_mark + (text.reader.end_mark() ? 1 : 0));
    parts_.push_back(text.part ? whole(*text.part)
                               : deal_parts(std::move(surveys[t]), text.reader.end_mark(), data_, pool_));
    for (const Part part : {Part::train, Part::val, Part::test}) {
      room_[static_cast<std::size_t>(part)] += room_for(part, parts_.back(), characters, marks);
    }
  }
}

void Preparation::encode(const Sink& sink) {
  Gatherer gatherer(sink);
  std::vector<std::vector<std::int32_t>> ids(text_slots(pool_));
  for (std::size_t t = 0; t < texts_.size(); ++t) {
    TextReader& reader = texts_[t].reader;
    Dealer dealer(parts_[t], reader.end_mark(), begin_marks(data_), gatherer);
    BlockWork work;
    work.at_once = [&](const TextBlock& block, std::size_t slot, std::size_t) {
      ids[slot].resize(block.characters.size());
      tokenizer_->ids(block.characters, ids[slot]);
      if (any_negative(ids[slot])) fail_changed(reader.path());
    };
    work.in_order = [&](const TextBlock& block, std::size_t slot) {
      std::span<const std::int32_t> rest = ids[slot];
      for_each_stretch(block, [&](std::u32string_view characters, bool ended) {
        if (!dealer.deal(rest.first(characters.size()), ended)) fail_changed(reader.path());
        rest = rest.subspan(characters.size());
      });
    };
    if (reader.read(pool_, work, progress_.of(reader)) != summaries_[t]) fail_changed(reader.path());
  }
  gatherer.finish();
}

}  // namespace chargpt
