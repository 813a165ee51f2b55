#pragma once

#include <string_view>

namespace chargpt {

/// Version of the program and of its engine library, e.g. "0.1.0"; the two must be the same.
std::string_view version();

}  // namespace chargpt
