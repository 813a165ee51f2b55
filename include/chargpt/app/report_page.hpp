#pragma once

#include <string>

#include "chargpt/base/json.hpp"

namespace chargpt {

/// The report as one HTML page that needs nothing else, neither network nor other files: src/app/report/ with `data`
/// (see report_data) in it. The data is untrusted; nothing in it can end its element or become markup.
std::string report_page(const Json& data);

}  // namespace chargpt
