#include "chargpt/base/utf8.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <array>
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
  std::u32string code_points(text.size(), U'\0');  // as many as there are at most
  const auto end = utf8::unchecked::utf8to32(text.begin(), text.end(), code_points.begin());
  code_points.erase(end, code_points.end());
  return code_points;
}

std::size_t find_invalid_utf8(std::string_view text) {
  return static_cast<std::size_t>(utf8::find_invalid(text.begin(), text.end()) - text.begin());
}

std::string describe_invalid_utf8(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const auto column = 1 + utf8::distance(in_line.begin(), in_line.end());
  return fmt::format("not valid UTF-8 at byte offset {} (line {}, column {}): 0x{:02X}", offset, line, column,
                     static_cast<unsigned char>(text[offset]));
}

std::string encode_utf8(char32_t code_point) { return encode_utf8(std::u32string_view(&code_point, 1)); }

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  utf8::utf32to8(text.begin(), text.end(), std::back_inserter(bytes));
  return bytes;
}

std::string describe_code_point(char32_t code_point) {
  const std::string number = fmt::format("U+{:04X}", static_cast<std::uint32_t>(code_point));
  return is_shown(code_point) ? fmt::format("{} '{}'", number, encode_utf8(code_point)) : number;
}

}  // namespace chargpt
