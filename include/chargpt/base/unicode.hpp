#pragma once

#include <string>
#include <string_view>

namespace chargpt {

/// General category in two letters, e.g. "Lu": the Unicode standard, table 4-4.
std::string_view category(char32_t code_point);

/// What a character is, by its Unicode general category: L and M; N; Z and the control characters that are white space;
/// P and S; all others.
enum class CharClass { letter, digit, space, punctuation, other };
std::string_view name(CharClass value);
CharClass char_class(char32_t code_point);

/// Columns that a text takes in a terminal: 2 for a wide character, 0 for a combining mark.
int display_width(std::u32string_view text);

/// A character as a label: itself, or for one that cannot be seen by itself "␣", "\n", "\t", "U+0007".
std::u32string visible(char32_t code_point);

}  // namespace chargpt
