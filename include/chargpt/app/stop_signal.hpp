#pragma once

#include <atomic>
#include <span>

namespace chargpt {

/// From now on these signals ask for a stop instead of killing: the number returned becomes that of the first one that
/// comes. A SIGINT after it ends the process at once with 130. SIGHUP stays ignored where it was ignored at start.
/// SIGPIPE and SIGXFSZ (a file-size limit) are ignored: a write says so.
const std::atomic<int>& catch_stop_signals(std::span<const int> signals);

/// From now on SIGINT is counted, and does nothing else. SIGPIPE and SIGXFSZ are ignored.
const std::atomic<int>& count_interrupts();

}  // namespace chargpt
