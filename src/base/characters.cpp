#include "chargpt/base/characters.hpp"

#include <utf8proc.h>

#include <algorithm>
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

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

}  // namespace chargpt
