#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "chargpt/base/byte_source.hpp"

namespace chargpt {

/// Whether this system's iconv converts from an encoding of this name.
bool is_known_encoding(const std::string& name);

/// `bytes` converted from `encoding` to UTF-8 as they are read; what is said to be UTF-8 is given as it is. Reading
/// throws Error(bad_data) with `name`, byte offset, line, column and the byte's value where they are not valid in it,
/// and what they are likely in; this throws Error(usage) for an encoding that is not known.
std::unique_ptr<ByteSource> to_utf8(std::unique_ptr<ByteSource> bytes, const std::string& encoding,
                                    const std::string& name);

/// The encoding that bytes which are not UTF-8 are most likely in, by a name that is_known_encoding() knows; empty when
/// nothing says.
std::string likely_encoding(std::string_view bytes);

}  // namespace chargpt
