#pragma once

#include "chargpt/commands/request.hpp"
#include "chargpt/engine/trainer.hpp"

namespace chargpt {

/// train --dry-run: what the run takes, and if that fits into `available` bytes of memory, a few steps, timed, and what
/// follows for the whole run: printed as text or as one JSON object. Writes no file. Returns the exit code.
int dry_run(const Request& request, Trainer& trainer, std::int64_t available);

}  // namespace chargpt
