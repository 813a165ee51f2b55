#include "chargpt/base/unicode.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

bool is_blank_control(char32_t code_point) { return code_point >= U'\t' && code_point <= U'\r'; }

}  // namespace

std::string_view category(char32_t code_point) {
  return utf8proc_category_string(static_cast<utf8proc_int32_t>(code_point));
}

std::string_view name(CharClass value) {
  switch (value) {
    case CharClass::letter:
      return "letter";
    case CharClass::digit:
      return "digit";
    case CharClass::space:
      return "space";
    case CharClass::punctuation:
      return "punctuation";
    case CharClass::other:
      return "other";
  }
  return {};
}

CharClass char_class(char32_t code_point) {
  if (is_blank_control(code_point)) return CharClass::space;
  switch (category(code_point)[0]) {
    case 'L':
    case 'M':
      return CharClass::letter;
    case 'N':
      return CharClass::digit;
    case 'Z':
      return CharClass::space;
    case 'P':
    case 'S':
      return CharClass::punctuation;
    default:  // C: controls, formats, surrogates, private use, unassigned
      return CharClass::other;
  }
}

int display_width(std::u32string_view text) {
  int width = 0;
  for (const char32_t code_point : text) width += utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
  return width;
}

std::u32string visible(char32_t code_point) {
  if (code_point == U' ') return U"␣";
  if (code_point == U'\n') return U"\\n";
  if (code_point == U'\t') return U"\\t";
  if (category(code_point)[0] == 'M') return {U'◌', code_point};  // a mark needs something to sit on
  if (category(code_point)[0] != 'C' && category(code_point)[0] != 'Z') return {code_point};
  return decode_utf8(fmt::format("U+{:04X}", static_cast<std::uint32_t>(code_point)), "label");
}

}  // namespace chargpt
