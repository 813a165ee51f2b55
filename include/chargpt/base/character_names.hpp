#pragma once

#include <string>
#include <string_view>

namespace chargpt {

/// The name of a character in the Unicode standard (section 4.8), "LATIN SMALL LETTER O WITH DIAERESIS"; of a control
/// what it is called (NameAliases.txt), "LINE FEED"; of what has neither its kind and number, "<private use
/// area-E000>".
std::string character_name(char32_t code_point);

/// The script that it belongs to by the Unicode standard (Annex 24): "Latin", "Han"; "Common" for what many scripts
/// use, "Inherited" for marks that take the script of what they sit on, "Unknown" for what is not assigned.
std::string_view script(char32_t code_point);

}  // namespace chargpt
