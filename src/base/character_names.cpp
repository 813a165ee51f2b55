#include "chargpt/base/character_names.hpp"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>

namespace chargpt {
namespace {

std::string unicode_name(char32_t code_point) {
  std::array<char, 128> buffer;
  UErrorCode error = U_ZERO_ERROR;
  const std::int32_t size = u_charName(static_cast<UChar32>(code_point), U_EXTENDED_CHAR_NAME, buffer.data(),
                                       std::int32_t{buffer.size()}, &error);
  return U_SUCCESS(error) ? std::string(buffer.data(), static_cast<std::size_t>(size)) : "";
}

/// ICU has no names for controls. Those that stand in texts:
std::string_view control_name(char32_t code_point) {
  struct Control {
    char32_t code_point;
    std::string_view name;
  };
  constexpr std::array kControls = std::to_array<Control>({{0x00, "NULL"},
                                                           {0x08, "BACKSPACE"},
                                                           {0x09, "CHARACTER TABULATION"},
                                                           {0x0A, "LINE FEED"},
                                                           {0x0B, "LINE TABULATION"},
                                                           {0x0C, "FORM FEED"},
                                                           {0x0D, "CARRIAGE RETURN"},
                                                           {0x1A, "SUBSTITUTE"},
                                                           {0x1B, "ESCAPE"},
                                                           {0x7F, "DELETE"},
                                                           {0x85, "NEXT LINE"}});
  const auto* const found = std::find_if(kControls.begin(), kControls.end(),
                                         [=](const Control& control) { return control.code_point == code_point; });
  return found == kControls.end() ? "" : found->name;
}

}  // namespace

std::string character_name(char32_t code_point) {
  const std::string_view control = control_name(code_point);
  return control.empty() ? unicode_name(code_point) : std::string(control);
}

std::string_view script(char32_t code_point) {
  UErrorCode error = U_ZERO_ERROR;
  return uscript_getName(uscript_getScript(static_cast<UChar32>(code_point), &error));
}

}  // namespace chargpt
