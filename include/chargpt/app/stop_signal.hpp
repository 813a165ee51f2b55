#pragma once

#include <atomic>

namespace chargpt {

/// From now on SIGINT, SIGTERM and (unless it was ignored at start) SIGHUP ask for a stop instead of killing: the
/// number returned becomes that of the signal. A second one ends the process at once with 128 + n. SIGPIPE is ignored:
/// a write says so.
const std::atomic<int>& catch_stop_signals();

}  // namespace chargpt
