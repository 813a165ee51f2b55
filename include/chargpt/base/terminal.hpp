#pragma once

namespace chargpt {

// What may be written to a stream besides plain text, for a person who may have said so: NO_COLOR
// (https://no-color.org), CLICOLOR_FORCE (https://bixense.com/clicolors), TERM=dumb, --no-color. `descriptor` is that
// of the stream.

/// Columns of the terminal; 80 where the stream is none or does not say.
int terminal_width(int descriptor);
/// Its lines; 24 where the stream is none or does not say.
int terminal_height(int descriptor);

/// Whether one line may be rewritten in place: on a terminal that is not dumb, unless escape codes are unwanted.
bool wants_live_line(int descriptor, bool no_color);

/// Whether colours may be written: where a live line may be, and, if CLICOLOR_FORCE is set to anything but 0, into
/// files and pipes too. --no-color and NO_COLOR win over that.
bool wants_color(int descriptor, bool no_color);

}  // namespace chargpt
