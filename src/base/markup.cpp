#include "chargpt/base/markup.hpp"

namespace chargpt {
namespace {

std::string escaped(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      break;
  }
  const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  return control ? "\xef\xbf\xbd" : std::string(1, c);
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += escaped(c);
  return safe;
}

}  // namespace chargpt
