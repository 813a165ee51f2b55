#pragma once

#include <string>
#include <string_view>

namespace chargpt {

/// Writes a result to stdout and flushes it. False when the reader has closed the pipe, which ends a command quietly.
/// Error(io) for every other failure, e.g. a full disk.
bool write_output(std::string_view text);

/// Writes a message to standard error, printable(): it may name a file. Nobody may be reading it: what cannot be
/// written is left out.
void write_message(const std::string& text);

/// Writes to a terminal on standard error what is drawn there, control sequences among it.
void draw(const std::string& sequences);

}  // namespace chargpt
