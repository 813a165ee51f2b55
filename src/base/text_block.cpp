#include "chargpt/base/text_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "chargpt/base/characters.hpp"
#include "chargpt/base/encoding.hpp"
#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

/// The end of the last whole character: the first byte of one that is cut is among the last three.
std::size_t end_of_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (is_continuation(text[text.size() - back])) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

/// The last character behind `from` before which a text that is to be normalised may be cut, or that is invalid; `from`
/// when there is none.
std::size_t last_beginning(std::string_view text, std::size_t from) {
  std::size_t end = end_of_characters(text);
  for (std::size_t at = end; at-- > from + 1;) {
    if (is_continuation(text[at])) continue;
    const std::string_view character = text.substr(at, end - at);
    std::u32string code_point;
    if (find_invalid_utf8(character) < character.size()) return at;
    append_valid_utf8(character, code_point);
    if (begins_normalization(code_point[0])) return at;
    end = at;
  }
  return from;
}

/// A carriage return belongs to the line feed that may follow.
std::size_t before_carriage_return(std::string_view text, std::size_t end) {
  return end > 0 && text[end - 1] == '\r' ? end - 1 : end;
}

void require_utf8(std::string_view bytes, const TextPlace& place, const std::string& name) {
  const std::size_t invalid = find_invalid_utf8(bytes);
  if (invalid == bytes.size()) return;
  const std::string encoding = likely_encoding(bytes);
  const std::string advice =
      encoding.empty() ? "" : fmt::format("if it is {0}, as it seems, say --set data.encoding={0}; ", encoding);
  fail_bad_data(fmt::format("{}: {}; {}--set data.format=bytes takes the bytes as they are", name,
                            describe_invalid_utf8(bytes, invalid, place), advice));
}

/// Takes the ends of lines, LF or CR LF, out of the characters of whole lines and of one that goes on behind them. Most
/// lines may be of a few characters, so that these are moved one by one.
void take_out_line_ends(TextBlock& block, bool last) {
  std::u32string& text = block.characters;
  std::size_t begin = 0, end = 0;  // of the line, where it is moved to
  const auto without_carriage_return = [&] { return end > begin && text[end - 1] == U'\r' ? end - 1 : end; };
  for (const char32_t c : text) {
    text[end++] = c;
    if (c != U'\n') continue;
    --end;
    begin = end = without_carriage_return();
    block.ends.push_back(end);
  }
  text.resize(last ? without_carriage_return() : end);
}

void append(const JsonlText& text, RawBlock& block) {
  const std::size_t before = block.bytes.size();
  block.bytes += text.bytes;
  std::transform(text.ends.begin(), text.ends.end(), std::back_inserter(block.ends),
                 [before](std::size_t end) { return before + end; });
}

/// Decodes documents of JSONL, each of which is normalised by itself.
void decode_documents(const RawBlock& raw, Normalization form, TextBlock& block) {
  const std::string_view text = raw.bytes;
  std::size_t begin = 0;
  for (const std::size_t end : raw.ends) {
    append_valid_characters(text.substr(begin, end - begin), form, block.characters);
    block.ends.push_back(block.characters.size());
    begin = end;
  }
  append_valid_characters(text.substr(begin), form, block.characters);
}

}  // namespace

BlockCutter::BlockCutter(std::unique_ptr<ByteSource> bytes, DataFormat format, const DataConfig& data, std::size_t size,
                         std::string name)
    : bytes_(std::move(bytes)),
      format_(format),
      form_(data.normalize),
      size_(size),
      name_(std::move(name)),
      jsonl_(data.field, name_) {}

/// Reads on at the end of `bytes`.
void BlockCutter::read_bytes(std::string& bytes) {
  const std::size_t before = bytes.size();
  bytes.resize(before + size_);
  const std::size_t got = bytes_->read({bytes.data() + before, size_});
  bytes.resize(before + got);
  ended_ = got < size_;
}

/// The same with what JSONL holds of documents.
void BlockCutter::read_documents(RawBlock& block) {
  std::string raw = std::exchange(cut_character_, {});
  read_bytes(raw);
  const std::size_t end = ended_ ? raw.size() : end_of_characters(raw);
  cut_character_.assign(raw, end);
  raw.resize(end);
  require_utf8(raw, place_, name_);
  const std::string_view text = place_.offset == 0 ? without_byte_order_mark(raw) : raw;
  has_text_ = has_text_ || !text.empty();
  append(jsonl_.read(text), block);
  if (ended_) append(jsonl_.finish(), block);
  place_.advance(raw);
}

/// Where a block ends; what is behind is for the next one.
std::size_t BlockCutter::cut_of(const RawBlock& block) const {
  const std::string& bytes = block.bytes;
  if (ended_ || format_ == DataFormat::bytes) return bytes.size();
  const bool whole_characters = form_ == Normalization::none;
  if (format_ == DataFormat::jsonl) {
    const std::size_t documents = block.ends.empty() ? 0 : block.ends.back();
    return whole_characters ? bytes.size() : last_beginning(bytes, documents);
  }
  const std::size_t end = whole_characters ? end_of_characters(bytes) : last_beginning(bytes, 0);
  return format_ == DataFormat::lines ? before_carriage_return(bytes, end) : end;
}

void BlockCutter::require_short_rest() const {
  if (rest_.size() <= kLongestRest) return;
  if (format_ != DataFormat::jsonl) require_utf8({rest_.data(), end_of_characters(rest_)}, place_, name_);
  fail_bad_data(fmt::format(
      "{}: more than {} bytes of nothing but combining marks or ends of syllables, which are normalised together; "
      "set data.normalize to none",
      name_, kLongestRest));
}

RawBlock BlockCutter::next() {
  started_ = true;
  RawBlock block{.bytes = std::exchange(rest_, {}), .place = place_};
  if (format_ == DataFormat::jsonl) {
    read_documents(block);
  } else {
    read_bytes(block.bytes);
  }
  const std::size_t cut = cut_of(block);
  rest_.assign(block.bytes, cut);
  block.bytes.resize(cut);
  block.last = ended();
  if (format_ != DataFormat::jsonl) {
    has_text_ = has_text_ || !without_byte_order_mark(block.bytes).empty();
    place_.advance(block.bytes);
  }
  require_short_rest();
  return block;
}

void decode(const RawBlock& raw, DataFormat format, Normalization form, const std::string& name, TextBlock& block) {
  block.characters.clear();
  block.ends.clear();
  switch (format) {
    case DataFormat::jsonl:
      return decode_documents(raw, form, block);
    case DataFormat::bytes:
      block.characters = byte_characters(raw.bytes);
      break;
    case DataFormat::automatic:
    case DataFormat::text:
    case DataFormat::lines:
      require_utf8(raw.bytes, raw.place, name);
      append_valid_characters(raw.place.offset == 0 ? without_byte_order_mark(raw.bytes) : raw.bytes, form,
                              block.characters);
      break;
  }
  if (format == DataFormat::lines) take_out_line_ends(block, raw.last);
  if (raw.last) block.ends.push_back(block.characters.size());
}

}  // namespace chargpt
