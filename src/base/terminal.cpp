#include "chargpt/base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace chargpt {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool refuses_escape_codes(bool no_color) { return no_color || !variable("NO_COLOR").empty(); }

bool is_capable_terminal(int descriptor) {
  const std::string_view type = variable("TERM");
  return isatty(descriptor) == 1 && !type.empty() && type != "dumb";
}

}  // namespace

int terminal_width(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int terminal_height(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

bool wants_live_line(int descriptor, bool no_color) {
  return is_capable_terminal(descriptor) && !refuses_escape_codes(no_color);
}

bool wants_color(int descriptor, bool no_color) {
  const std::string_view force = variable("CLICOLOR_FORCE");
  const bool forced = !force.empty() && force != "0";
  return (is_capable_terminal(descriptor) || forced) && !refuses_escape_codes(no_color);
}

}  // namespace chargpt
