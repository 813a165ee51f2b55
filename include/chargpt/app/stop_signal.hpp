#pragma once

#include <atomic>
#include <span>

namespace chargpt {

/// From now on these signals ask for a stop instead of killing: the number returned becomes that of the first one that
/// comes. A SIGINT after it ends the process at once with 130. SIGHUP stays ignored where it was ignored at start.
const std::atomic<int>& catch_stop_signals(std::span<const int> signals);

/// From now on SIGINT is counted, and does nothing else.
const std::atomic<int>& count_interrupts();

}  // namespace chargpt
