#pragma once

#include "chargpt/commands/request.hpp"

namespace chargpt {

/// Opens the engine library (lib/libchargpt.so beside the program's bin/) and has it run the request with handlers for
/// signals in place, unless request.stop_signal tells that others are. Error(internal) when it cannot be opened: says
/// why and what to do.
int run_engine(Request request);

}  // namespace chargpt
