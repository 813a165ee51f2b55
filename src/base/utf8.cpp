#include "chargpt/base/utf8.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "chargpt/base/encoding.hpp"
#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

struct CodePointRange {
  char32_t first, last;
};

/// What a terminal shows badly or not at all: controls, marks that would sit on the quote, invisible characters and
/// changes of direction, surrogates and private use, what is no character.
constexpr std::array kNotShown = std::to_array<CodePointRange>({{0x00, 0x1F},
                                                                {0x7F, 0x9F},
                                                                {0xAD, 0xAD},
                                                                {0x300, 0x36F},
                                                                {0x200B, 0x200F},
                                                                {0x2028, 0x202E},
                                                                {0x2060, 0x206F},
                                                                {0xD800, 0xF8FF},
                                                                {0xFE00, 0xFE0F},
                                                                {0xFEFF, 0xFEFF},
                                                                {0xFFF0, 0xFFFB},
                                                                {0xFFFE, 0xFFFF},
                                                                {0xE0000, 0xFFFFFFFF}});

bool is_shown(char32_t code_point) {
  return std::none_of(kNotShown.begin(), kNotShown.end(), [=](const CodePointRange& range) {
    return range.first <= code_point && code_point <= range.last;
  });
}

constexpr std::ptrdiff_t kWord = 8;  // bytes that are looked at together

bool is_ascii_word(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0x8080808080808080U) == 0;
}

constexpr std::ptrdiff_t kThree = 3;  // bytes of most characters beyond the Latin, Greek, Cyrillic and Semitic ones

/// What three bytes, whose first one begins a sequence of three, stand for.
char32_t three_byte_code_point(const char* bytes) {
  const auto bits = [bytes](std::size_t i, unsigned mask) { return static_cast<unsigned char>(bytes[i]) & mask; };
  return bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
}

bool begins_three_bytes(char lead) { return (lead & 0xF0) == 0xE0; }

/// Whether three bytes are a well-formed sequence: neither one longer than need be nor a surrogate. Few and plain
/// comparisons, since text in such characters passes here byte by byte.
bool is_three_byte_sequence(const char* bytes) {
  const auto bits = [bytes](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(bytes[i])}; };
  const std::uint32_t word = bits(0) | bits(1) << 8 | bits(2) << 16;
  const std::uint32_t high = word & 0x00200F;  // the highest five bits of the code point
  return (word & 0xC0C0F0) == 0x8080E0 && high != 0 && high != 0x00200D;
}

/// Bytes of the well-formed sequence that `text` begins with (Unicode standard, table 3-7); 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto within = [text](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < text.size() && low <= static_cast<unsigned char>(text[i]) && static_cast<unsigned char>(text[i]) <= high;
  };
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return within(1) ? 2 : 0;
  if (lead < 0xF0) return within(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && within(2) ? 3 : 0;
  return within(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && within(2) && within(3) ? 4 : 0;
}

/// How many bytes are such. Counts of few at a time fit into a byte, so that many of them are added at once.
template <class Is>
std::int64_t count_bytes(std::string_view text, const Is& is) {
  constexpr std::size_t kFew = 255;
  std::int64_t all = 0;
  for (; !text.empty(); text.remove_prefix(std::min(kFew, text.size()))) {
    std::uint8_t count = 0;
    for (const char byte : text.substr(0, kFew)) count = static_cast<std::uint8_t>(count + (is(byte) ? 1 : 0));
    all += count;
  }
  return all;
}

[[noreturn]] void fail(std::string_view text, std::size_t offset, const std::string& source) {
  const std::string encoding = likely_encoding(text);
  const std::string advice = encoding.empty()
                                 ? "convert it with `iconv`"
                                 : fmt::format("it may be {0}: convert it, e.g. `iconv -f {0} -t UTF-8`", encoding);
  throw Error(ExitCode::bad_data, fmt::format("{}: {}; {}", source, describe_invalid_utf8(text, offset), advice));
}

}  // namespace

std::u32string decode_utf8(std::string_view text, const std::string& source) {
  const std::size_t invalid = find_invalid_utf8(text);
  if (invalid != text.size()) fail(text, invalid, source);
  std::u32string code_points;
  append_valid_utf8(text, code_points);
  return code_points;
}

void append_valid_utf8(std::string_view text, std::u32string& code_points) {
  constexpr std::size_t kPiece = 4096;  // stays in the cache between the zeroing of its characters and their decoding
  std::size_t size = code_points.size();
  code_points.reserve(size + text.size());  // as many as there are at most
  const char *at = text.data(), *const end = at + text.size();
  while (at != end) {
    const char* const piece_end = at + std::min<std::ptrdiff_t>(kPiece, end - at);
    code_points.resize(size + static_cast<std::size_t>(piece_end - at));
    char32_t* to = code_points.data() + size;
    while (at < piece_end) {
      if (piece_end - at >= kWord && is_ascii_word(at)) {
        to = std::copy_n(reinterpret_cast<const unsigned char*>(at), kWord, to);
        at += kWord;
      } else if (begins_three_bytes(*at)) {
        *to++ = three_byte_code_point(at);
        at += kThree;
      } else {
        *to++ = utf8::unchecked::next(at);
      }
    }
    size = static_cast<std::size_t>(to - code_points.data());
  }
  code_points.resize(size);
}

std::size_t find_invalid_utf8(std::string_view text) {
  const char *at = text.data(), *const end = at + text.size();
  while (at != end) {
    if (end - at >= kWord && is_ascii_word(at)) {
      at += kWord;
    } else if (end - at >= kThree && is_three_byte_sequence(at)) {
      at += kThree;
    } else {
      const std::size_t length = sequence_length({at, end});
      if (length == 0) break;
      at += length;
    }
  }
  return static_cast<std::size_t>(at - text.data());
}

void TextPlace::advance(std::string_view text) {
  offset += text.size();
  const auto newline = text.rfind('\n');
  if (newline != std::string_view::npos) {
    line += count_bytes(text, [](char byte) { return byte == '\n'; });
    column = 1;
    text.remove_prefix(newline + 1);
  }
  column += count_bytes(text, [](char byte) { return !is_continuation(byte); });
}

std::string describe_invalid_utf8(std::string_view text, std::size_t offset, TextPlace place) {
  place.advance(text.substr(0, offset));
  return fmt::format("not valid UTF-8 at byte offset {} (line {}, column {}): 0x{:02X}", place.offset, place.line,
                     place.column, static_cast<unsigned char>(text[offset]));
}

std::string encode_utf8(char32_t code_point) { return encode_utf8(std::u32string_view(&code_point, 1)); }

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  utf8::utf32to8(text.begin(), text.end(), std::back_inserter(bytes));
  return bytes;
}

std::string printable(std::string_view message) {
  const auto is_control = [](std::string_view sequence) {
    const auto byte = static_cast<unsigned char>(sequence[0]);
    const bool c1 = byte == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
    return c1 || byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t');
  };
  std::string text;
  while (!message.empty()) {
    const std::size_t length = sequence_length(message);
    const std::string_view sequence = message.substr(0, std::max<std::size_t>(1, length));
    message.remove_prefix(sequence.size());
    if (length > 0 && !is_control(sequence)) {
      text += sequence;
      continue;
    }
    for (const char byte : sequence) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

std::string describe_code_point(char32_t code_point) {
  const std::string number = fmt::format("U+{:04X}", static_cast<std::uint32_t>(code_point));
  return is_shown(code_point) ? fmt::format("{} '{}'", number, encode_utf8(code_point)) : number;
}

}  // namespace chargpt
