#include <sstream>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/config_command.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/base/output.hpp"

namespace chargpt {
namespace {

template <class Print>
int printed(const Print& print) {
  std::ostringstream text;
  const auto code = static_cast<int>(print(text));
  write_output(text.str());
  return code;
}

}  // namespace

int run_config_show(const Arguments& arguments) {
  return printed([&](std::ostream& out) { return config_show(resolve_config(arguments), arguments.json, out); });
}

int run_config_check(const Arguments& arguments) {
  return printed([&](std::ostream& out) { return config_check(resolve_config(arguments), arguments.json, out); });
}

int run_config_diff(const Arguments& arguments) {
  Arguments left = arguments, right = arguments;
  left.config_file = arguments.files[0];
  right.config_file = arguments.files[1];
  return printed(
      [&](std::ostream& out) { return config_diff(resolve_config(left), resolve_config(right), arguments.json, out); });
}

int run_config_schema(const Arguments&) { return printed(config_print_schema); }

int run_config_init(const Arguments&) { return printed(config_init); }

}  // namespace chargpt
