#pragma once

#include <string_view>

namespace chargpt {

/// The script that a letter or mark belongs to, as Unicode names it, for the scripts that most texts are in: "Latin",
/// "Han"; "Other" for those of further scripts, "Common" for what is no letter.
std::string_view script(char32_t code_point);

}  // namespace chargpt
