#pragma once

#include <string>
#include <string_view>

namespace chargpt {

/// Whether this system's iconv converts from an encoding of this name.
bool is_known_encoding(const std::string& name);

/// `bytes` converted from `encoding` to UTF-8; what is said to be UTF-8 is returned as it is. Error(bad_data) with
/// `source`, byte offset, line and the byte's value where they are not valid in it, Error(usage) for a name that is not
/// known.
std::string to_utf8(std::string bytes, const std::string& encoding, const std::string& source);

/// The encoding that bytes which are not UTF-8 are most likely in, by a name that is_known_encoding() knows; empty when
/// nothing says.
std::string likely_encoding(std::string_view bytes);

}  // namespace chargpt
