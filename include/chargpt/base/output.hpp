#pragma once

#include <string_view>

namespace chargpt {

/// Writes a result to stdout and flushes it. False when the reader has closed the pipe, which ends a command quietly.
/// Error(io) for every other failure, e.g. a full disk.
bool write_output(std::string_view text);

}  // namespace chargpt
