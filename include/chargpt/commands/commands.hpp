#pragma once

#include "chargpt/base/error.hpp"
#include "chargpt/commands/request.hpp"

namespace chargpt {

// One function a command: files in, text and files out. stdout is the result, messages go through spdlog to stderr. A
// failure is thrown as Error; the code returned is ok, or 128 + n after signal n.

int train_command(const Request& request);
int sample_command(const Request& request);
int eval_command(const Request& request);
int bench_command(const Request& request);
int explain_command(const Request& request);
int doctor_command(const Request& request);

}  // namespace chargpt
