#include <iostream>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/config_command.hpp"
#include "chargpt/app/resolve.hpp"

namespace chargpt {

int run_config_show(const Arguments& arguments) {
  return static_cast<int>(config_show(resolve_config(arguments), arguments.json, std::cout));
}

int run_config_check(const Arguments& arguments) {
  return static_cast<int>(config_check(resolve_config(arguments), arguments.json, std::cout));
}

int run_config_diff(const Arguments& arguments) {
  Arguments left = arguments, right = arguments;
  left.config_file = arguments.files[0];
  right.config_file = arguments.files[1];
  return static_cast<int>(config_diff(resolve_config(left), resolve_config(right), arguments.json, std::cout));
}

int run_config_schema(const Arguments&) { return static_cast<int>(config_print_schema(std::cout)); }

int run_config_init(const Arguments&) { return static_cast<int>(config_init(std::cout)); }

}  // namespace chargpt
