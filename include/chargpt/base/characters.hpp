#pragma once

#include <string>
#include <string_view>

#include "chargpt/base/config.hpp"

namespace chargpt {

// How bytes become the characters that a model reads: the same for training, prompts and evaluation.

/// Each byte as a character of its own, U+0000 to U+00FF.
std::u32string byte_characters(std::string_view bytes);

/// Code points of `text`, normalised. Nothing else is changed: line ends, for one, stay as they are. Error(bad_data) as
/// decode_utf8.
std::u32string text_characters(std::string_view text, Normalization form, const std::string& source);

/// Appends the same of a text that is known to be well-formed UTF-8.
void append_valid_characters(std::string_view text, Normalization form, std::u32string& characters);

/// Whether a text may be cut before this character and both halves be normalised by themselves, in either form: nothing
/// before it is composed or reordered with it or with what follows (Unicode standard annex 15, section 9). False
/// for marks, for the later parts of Korean syllables, and where it is not certain.
bool begins_normalization(char32_t code_point);

/// `text` without the U+FEFF it may begin with, which Windows programs write to say that a file is UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace chargpt
