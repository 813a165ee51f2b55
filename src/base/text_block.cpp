#include "chargpt/base/text_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chargpt/base/characters.hpp"
#include "chargpt/base/encoding.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/file_reader.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/memory.hpp"

namespace chargpt {
namespace {

/// The end of the last whole character: the first byte of one that is cut is among the last three.
std::size_t end_of_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

/// Whether a character begins here before which a text that is to be normalised may be cut, since nothing before it is
/// composed or reordered with it or with what follows: ASCII, or by its first byte of UTF-8 U+5000 to U+9FFF, which are
/// ideographs.
bool begins_anew(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x80 || (value >= 0xE5 && value <= 0xE9);
}

/// The last such place behind `from`; 0 when there is none.
std::size_t last_beginning(std::string_view text, std::size_t from) {
  std::size_t at = text.size();
  while (at > from && !begins_anew(text[at - 1])) --at;
  return at > from ? at - 1 : 0;
}

/// A carriage return belongs to the line feed that may follow.
std::size_t before_carriage_return(std::string_view text, std::size_t end) {
  return end > 0 && text[end - 1] == '\r' ? end - 1 : end;
}

/// From so many bytes on that cannot be cut it is asked whether there is memory for them.
constexpr std::size_t kManyBytes = 1 << 26;

void require_memory_to_decode(std::size_t bytes, DataFormat format, const std::string& name) {
  constexpr std::uint64_t kCopies = 12;  // themselves, what is parsed or composed of them, 4 bytes a character, ids
  const bool jsonl = format == DataFormat::jsonl;
  require_memory(
      kCopies * bytes, available_memory(),
      fmt::format(
          "{}: {} and what is made of them", input_name(name),
          jsonl ? "the bytes of one line of JSONL" : "bytes to normalise that cannot be cut (no ASCII, no ideograph)"),
      jsonl ? "give each document a line of its own, and cut such a long one" : "set data.normalize to none");
}

void require_utf8(const RawBlock& raw, const std::string& name) {
  const std::size_t invalid = find_invalid_utf8(raw.bytes);
  if (invalid == raw.bytes.size()) return;
  const std::string encoding = likely_encoding(raw.bytes);
  const std::string advice =
      encoding.empty() ? "" : fmt::format("if it is {0}, as it seems, say --set data.encoding={0}; ", encoding);
  fail_bad_data(fmt::format("{}: {}; {}--set data.format=bytes takes the bytes as they are", name,
                            describe_invalid_utf8(raw.bytes, invalid, raw.place), advice));
}

/// Takes the ends of lines, LF or CR LF, out of the characters of whole lines and of one that goes on behind them.
void take_out_line_ends(TextBlock& block, bool last) {
  std::u32string& text = block.characters;
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = std::min(text.find(U'\n', begin), text.size());
    const bool ended = newline < text.size();
    const bool carriage_return = (ended || last) && newline > begin && text[newline - 1] == U'\r';
    const std::size_t size = newline - begin - (carriage_return ? 1 : 0);
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(begin), size,
                text.begin() + static_cast<std::ptrdiff_t>(kept));
    kept += size;
    if (ended) block.ends.push_back(kept);
    begin = newline + 1;
  }
  text.resize(kept);
}

/// The text of one JSONL line, or what is wrong with it.
std::u32string parse_document(std::string_view line, const DataConfig& data, const std::string& name, int number) {
  const Json record = parse_json(line, {.source = name, .code = ExitCode::bad_data, .first_line = number});
  const std::string source = fmt::format("{}, line {}", name, number);
  if (!record.is_object())
    fail_bad_data(fmt::format("{}: expected an object, got a JSON {}", source, record.type_name()));
  const auto text = record.find(data.field);
  if (text == record.end()) {
    fail_bad_data(
        fmt::format("{}: no field \"{}\"; name the field that holds the text with data.field", source, data.field));
  }
  if (!text->is_string()) {
    fail_bad_data(
        fmt::format("{}: field \"{}\" should be a string, is a JSON {}", source, data.field, text->type_name()));
  }
  return text_characters(text->get_ref<const std::string&>(), data.normalize, source);
}

void parse_documents(std::string_view lines, std::int64_t first_line, const DataConfig& data, const std::string& name,
                     JsonFieldReader& fields, TextBlock& block) {
  for (std::int64_t number = first_line; !lines.empty(); ++number) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (const auto text = fields.string(line, data.field)) {
      append_valid_characters(*text, data.normalize, block.characters);
    } else {
      block.characters += parse_document(line, data, name, static_cast<int>(number));
    }
    block.ends.push_back(block.characters.size());
  }
}

}  // namespace

BlockCutter::BlockCutter(std::unique_ptr<ByteSource> bytes, DataFormat format, Normalization form, std::size_t size,
                         std::string name)
    : bytes_(std::move(bytes)), format_(format), form_(form), size_(size), name_(std::move(name)) {}

void BlockCutter::read_more(std::string& bytes) {
  const std::size_t before = bytes.size(), wanted = std::max(size_, 2 * before);
  if (before >= kManyBytes) require_memory_to_decode(before, format_, name_);
  bytes.resize(wanted);
  const std::size_t got = bytes_->read({bytes.data() + before, wanted - before});
  bytes.resize(before + got);
  ended_ = before + got < wanted;
}

/// Where the bytes may be cut, at or behind `searched`, before which no such place is; 0 when there is none.
std::size_t BlockCutter::cut_of(const std::string& bytes, std::size_t searched) const {
  switch (format_) {
    case DataFormat::bytes:
      return bytes.size();
    case DataFormat::jsonl: {
      const auto newline = bytes.rfind('\n');
      return newline == std::string::npos || newline < searched ? 0 : newline + 1;
    }
    case DataFormat::lines:
    case DataFormat::automatic:
    case DataFormat::text:
      break;
  }
  const std::size_t end = form_ == Normalization::none ? end_of_characters(bytes) : last_beginning(bytes, searched);
  return format_ == DataFormat::lines ? before_carriage_return(bytes, end) : end;
}

RawBlock BlockCutter::next() {
  started_ = true;
  RawBlock block{std::exchange(rest_, {}), place_};
  std::size_t cut = 0;
  for (std::size_t searched = 0; cut == 0 && !ended_;) {
    read_more(block.bytes);
    cut = cut_of(block.bytes, searched);
    searched = block.bytes.size();
  }
  if (ended_) cut = block.bytes.size();
  rest_.assign(block.bytes, cut);
  block.bytes.resize(cut);
  block.last = ended();
  place_.advance(block.bytes);
  return block;
}

void decode(const RawBlock& raw, DataFormat format, const DataConfig& data, const std::string& name,
            JsonFieldReader& fields, TextBlock& block) {
  block.characters.clear();
  block.ends.clear();
  if (format == DataFormat::bytes) {
    block.characters = byte_characters(raw.bytes);
  } else {
    require_utf8(raw, name);
    const std::string_view text = raw.place.offset == 0 ? without_byte_order_mark(raw.bytes) : raw.bytes;
    if (format == DataFormat::jsonl) return parse_documents(text, raw.place.line, data, name, fields, block);
    append_valid_characters(text, data.normalize, block.characters);
    if (format == DataFormat::lines) take_out_line_ends(block, raw.last);
  }
  if (raw.last) block.ends.push_back(block.characters.size());
}

}  // namespace chargpt
