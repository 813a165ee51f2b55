#pragma once

#include <string>
#include <vector>

namespace chargpt {

/// Parses the command line, runs the command and returns the exit code. Reports usage errors on stderr with the nearest
/// known word. Throws Error for failures of the command itself.
int run_command_line(int argc, const char* const* argv);

/// What the last of the words can become; see completions().
std::vector<std::string> complete_command_line(const std::vector<std::string>& words);

}  // namespace chargpt
