#include "chargpt/base/characters.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// `text` is valid UTF-8, so that only memory can be lacking.
std::string normalized(std::string_view text, int compatibility) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | compatibility);
  utf8proc_uint8_t* result = nullptr;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size = utf8proc_map(bytes, static_cast<utf8proc_ssize_t>(text.size()), &result, options);
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(result);
  if (size < 0) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(size)};
}

/// Whether a character may be composed or reordered with those before it: marks, the vowels and final consonants of
/// Korean, and the vowels of Kirat Rai, which compose as well and are no marks.
bool attaches(utf8proc_int32_t code_point) {
  const auto within = [code_point](utf8proc_int32_t first, utf8proc_int32_t last) {
    return first <= code_point && code_point <= last;
  };
  const utf8proc_category_t category = utf8proc_category(code_point);
  const bool mark =
      category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
  return mark || within(0x1160, 0x11FF) || within(0x16D63, 0x16D6A);
}

}  // namespace

std::u32string byte_characters(std::string_view bytes) {
  std::u32string characters(bytes.size(), U'\0');
  std::transform(bytes.begin(), bytes.end(), characters.begin(),
                 [](char byte) { return static_cast<unsigned char>(byte); });
  return characters;
}

std::u32string text_characters(std::string_view text, Normalization form, const std::string& source) {
  std::u32string code_points = decode_utf8(text, source);
  if (form == Normalization::none) return code_points;
  code_points.clear();
  append_valid_characters(text, form, code_points);
  return code_points;
}

void append_valid_characters(std::string_view text, Normalization form, std::u32string& characters) {
  switch (form) {
    case Normalization::none:
      return append_valid_utf8(text, characters);
    case Normalization::nfc:
      return append_valid_utf8(normalized(text, 0), characters);
    case Normalization::nfkc:
      break;
  }
  append_valid_utf8(normalized(text, UTF8PROC_COMPAT), characters);
}

bool begins_normalization(char32_t code_point) {
  if (code_point < 0x80) return true;
  std::array<utf8proc_int32_t, 32> parts{};  // the longest decomposition has 18
  int boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts.data(),
                                             static_cast<utf8proc_ssize_t>(parts.size()), options, &boundary);
  return count > 0 && !attaches(parts[0]);
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

}  // namespace chargpt
