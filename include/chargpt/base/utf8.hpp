#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chargpt {

/// Code points of `text`, which must be well-formed UTF-8 (Unicode standard, table 3-7). `source` names the text in the
/// message. Error(bad_data) gives byte offset, line, column and the byte's value, and what to do.
std::u32string decode_utf8(std::string_view text, const std::string& source);

/// Offset of the first byte that belongs to no well-formed sequence, or text.size().
std::size_t find_invalid_utf8(std::string_view text);

/// "not valid UTF-8 at byte offset 7 (line 2, column 4): 0x92"; the column counts characters from 1.
std::string describe_invalid_utf8(std::string_view text, std::size_t offset);

std::string encode_utf8(char32_t code_point);
std::string encode_utf8(std::u32string_view text);

/// "U+0041 'A'"; control characters and the like without the quoted form.
std::string describe_code_point(char32_t code_point);

}  // namespace chargpt
