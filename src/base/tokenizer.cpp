#include "chargpt/base/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "chargpt/base/characters.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kExamples = 5;

bool is_combining_mark(char32_t code_point) { return code_point >= 0x300 && code_point <= 0x36F; }

[[noreturn]] void fail_unknown(const Tokenizer& tokenizer, std::u32string_view text, const std::string& source) {
  UnknownCharacters unknown;
  FirstUnknown first;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (tokenizer.id(text[i]) >= 0) continue;
    if (unknown.count == 0) {
      first = {text[i], i, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), U'\n')};
    }
    unknown.add(text[i]);
  }
  refuse_unknown(tokenizer, source, first, unknown, text.size());
}

/// Reads the entries of a vocabulary one by one; every fault names its entry.
class VocabularyReader {
 public:
  VocabularyReader(const Json& vocabulary, const std::string& source) : vocabulary_(vocabulary), source_(source) {}

  Tokenizer read(Normalization normalization) const {
    if (!vocabulary_.is_array()) fail(fmt::format("is a JSON {}, not an array of strings", vocabulary_.type_name()));
    const bool end_mark = holds(0, kEndMark), unknown_mark = holds(end_mark ? 1 : 0, kUnknownMark);
    std::set<char32_t> code_points;
    for (std::size_t i = (end_mark ? 1U : 0U) + (unknown_mark ? 1U : 0U); i < vocabulary_.size(); ++i) {
      const char32_t code_point = entry(i);
      if (!code_points.empty() && code_point == *code_points.rbegin()) fail_entry(i, "stands twice");
      if (!code_points.empty() && code_point < *code_points.rbegin()) fail_entry(i, "is out of order by code point");
      code_points.insert(code_points.end(), code_point);
    }
    if (code_points.empty()) fail("is empty: it holds no character");
    return {code_points, end_mark, unknown_mark, normalization};
  }

 private:
  bool holds(std::size_t i, std::string_view mark) const { return i < vocabulary_.size() && vocabulary_[i] == mark; }

  char32_t entry(std::size_t i) const {
    if (!vocabulary_[i].is_string()) fail_entry(i, "is not a string");
    const auto& text = vocabulary_[i].get_ref<const std::string&>();
    if (text == kEndMark) fail_entry(i, "is the end mark, which may stand at entry 0 only");
    if (text == kUnknownMark) fail_entry(i, "is the unknown mark, which may stand at the beginning only");
    const std::u32string code_points = decode_utf8(text, fmt::format("{}: vocabulary entry {}", source_, i));
    if (code_points.size() != 1) fail_entry(i, fmt::format("has {} characters, not one", code_points.size()));
    return code_points[0];
  }

  [[noreturn]] void fail_entry(std::size_t i, const std::string& what) const {
    const Json& entry = vocabulary_[i];
    const std::string text =
        entry.is_string() ? shown(entry.get_ref<const std::string&>()) : to_json_line(entry).substr(0, 80);
    throw Error(ExitCode::unusable_model, fmt::format("{}: vocabulary entry {}, {}, {}", source_, i, text, what));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::unusable_model, fmt::format("{}: the vocabulary {}", source_, what));
  }

  const Json& vocabulary_;
  const std::string& source_;
};

}  // namespace

void UnknownCharacters::add(char32_t code_point) {
  ++count;
  if (examples.size() == kExamples || std::find(examples.begin(), examples.end(), code_point) != examples.end()) return;
  examples.push_back(code_point);
}

std::string UnknownCharacters::text() const {
  std::vector<std::string> described;
  std::transform(examples.begin(), examples.end(), std::back_inserter(described), describe_code_point);
  const bool decomposed = std::any_of(examples.begin(), examples.end(), is_combining_mark);
  return fmt::format(
      "{}{}", fmt::join(described, ", "),
      decomposed ? " (combining marks: the text may need NFC normalisation, e.g. `uconv -x any-nfc`)" : "");
}

void refuse_unknown(const Tokenizer& tokenizer, const std::string& source, const FirstUnknown& first,
                    const UnknownCharacters& unknown, std::uint64_t characters) {
  throw Error(ExitCode::bad_data,
              fmt::format("{}: character {} at position {} (line {}) is not in the vocabulary of {}; {} of {} "
                          "characters are unknown: {}; leave them out, or train a model on text that has them",
                          source, describe_code_point(first.code_point), first.position, first.line, tokenizer.size(),
                          unknown.count, characters, unknown.text()));
}

Tokenizer::Tokenizer(const std::set<char32_t>& code_points, bool end_mark, bool unknown_mark,
                     Normalization normalization)
    : end_mark_(end_mark), unknown_mark_(unknown_mark), normalization_(normalization) {
  if (end_mark) symbols_.emplace_back(kEndMark);
  if (unknown_mark) symbols_.emplace_back(kUnknownMark);
  if (!code_points.empty()) ids_.assign(std::size_t{*code_points.rbegin()} + 1, -1);
  for (const char32_t code_point : code_points) {
    ids_[code_point] = static_cast<std::int32_t>(symbols_.size());
    symbols_.push_back(encode_utf8(code_point));
  }
}

Tokenizer Tokenizer::bytes() {
  Tokenizer tokenizer;
  tokenizer.bytes_ = true;
  for (std::int32_t byte = 0; byte < 256; ++byte) {
    tokenizer.ids_.push_back(byte);
    tokenizer.symbols_.emplace_back(1, static_cast<char>(byte));
  }
  return tokenizer;
}

Tokenizer Tokenizer::from_json(const Json& vocabulary, const std::string& source, Normalization normalization) {
  return VocabularyReader(vocabulary, source).read(normalization);
}

Json Tokenizer::to_json() const { return symbols_; }

std::u32string Tokenizer::characters(std::string_view text, const std::string& source) const {
  if (bytes_) return byte_characters(text);
  return text_characters(without_byte_order_mark(text), normalization_, source);
}

std::int32_t Tokenizer::id(char32_t character) const {
  const std::int32_t known = character < ids_.size() ? ids_[character] : -1;
  return known < 0 && unknown_mark_ ? unknown_mark_id() : known;
}

void Tokenizer::ids(std::u32string_view characters, std::span<std::int32_t> ids) const {
  const std::span<const std::int32_t> known = ids_;
  const std::int32_t otherwise = unknown_mark_ ? unknown_mark_id() : -1;
  std::transform(characters.begin(), characters.end(), ids.begin(), [=](char32_t character) {
    const std::int32_t id = character < known.size() ? known[character] : -1;
    return id < 0 ? otherwise : id;
  });
}

std::vector<std::int32_t> Tokenizer::encode(std::u32string_view text, const std::string& source) const {
  std::vector<std::int32_t> encoded(text.size());
  ids(text, encoded);
  if (std::find(encoded.begin(), encoded.end(), -1) != encoded.end()) fail_unknown(*this, text, source);
  return encoded;
}

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const std::int32_t id : ids) text += symbol(id);
  return text;
}

std::string Tokenizer::as_utf8(const std::string& written) const {
  return bytes_ ? encode_utf8(byte_characters(written)) : written;
}

}  // namespace chargpt
