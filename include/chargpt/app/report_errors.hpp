#pragma once

#include <functional>

namespace chargpt {

/// The exit code of `run`. What it throws is reported on stderr as one line "error: ...", and has its own exit code.
int report_errors(const std::function<int()>& run);

}  // namespace chargpt
