#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace chargpt {

/// What the last of `words`, typed so far behind the program's name, can become: a command, a flag, a flag's value, or
/// behind --set a config key and its value. Sorted; empty where the shell's own completion, of files, is wanted.
std::vector<std::string> completions(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace chargpt
