#include "chargpt/base/utf8.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <array>
#include <iterator>

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

std::string advice(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return "it begins as UTF-16 does; convert it, e.g. `iconv -f UTF-16 -t UTF-8`";
  }
  return "convert it, e.g. `iconv -f WINDOWS-1252 -t UTF-8` if it comes from Windows";
}

[[noreturn]] void fail(std::string_view text, std::size_t offset, const std::string& source) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  throw Error(ExitCode::bad_data, fmt::format("{}: not valid UTF-8 at byte offset {} (line {}): 0x{:02X}; {}", source,
                                              offset, line, static_cast<unsigned char>(text[offset]), advice(text)));
}

}  // namespace

std::u32string decode_utf8(std::string_view text, const std::string& source) {
  const auto* invalid = utf8::find_invalid(text.begin(), text.end());
  if (invalid != text.end()) fail(text, static_cast<std::size_t>(invalid - text.begin()), source);
  std::u32string code_points(text.size(), U'\0');  // as many as there are at most
  const auto end = utf8::unchecked::utf8to32(text.begin(), text.end(), code_points.begin());
  code_points.erase(end, code_points.end());
  return code_points;
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
