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

/// Whether a byte is one of a sequence behind its first.
inline bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Appends the code points of a text that is known to be well-formed.
void append_valid_utf8(std::string_view text, std::u32string& code_points);

/// A place in a UTF-8 text. Lines end with LF; the column counts characters.
struct TextPlace {
  std::uint64_t offset = 0;  ///< bytes before it
  std::int64_t line = 1, column = 1;

  void advance(std::string_view text);  ///< to behind a text that stands here
};

/// "not valid UTF-8 at byte offset 7 (line 2, column 4): 0x92", where `text` begins at `place`.
std::string describe_invalid_utf8(std::string_view text, std::size_t offset, TextPlace place = {});

std::string encode_utf8(char32_t code_point);
std::string encode_utf8(std::u32string_view text);

/// A message as it may be shown in a terminal: control characters but newlines and tabs, and bytes that are not UTF-8,
/// as
/// "\x1b". File names may hold either.
std::string printable(std::string_view message);

/// "U+0041 'A'"; control characters and the like without the quoted form.
std::string describe_code_point(char32_t code_point);

}  // namespace chargpt
