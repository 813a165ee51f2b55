#pragma once

#include <string>
#include <vector>

namespace chargpt {

/// The signal numbers in a list such as "INT, TERM, USR1" (a name may begin with SIG). Error(usage) for an empty list
/// and for a name that is none of INT, TERM, HUP, QUIT, USR1, USR2, XCPU.
std::vector<int> parse_signal_list(const std::string& text);

}  // namespace chargpt
