#pragma once

#include <string>
#include <string_view>

namespace chargpt {

/// Untrusted UTF-8 as text or as a quoted attribute of XML and HTML: & < > " and ' as entities; control characters,
/// which XML 1.0 has no place for, as U+FFFD, but for tab and line ends.
std::string escape_markup(std::string_view text);

}  // namespace chargpt
