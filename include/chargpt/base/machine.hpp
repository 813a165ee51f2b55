#pragma once

#include "chargpt/base/json.hpp"

namespace chargpt {

/// What can be said of this program and machine without LibTorch: chargpt (version), compiler, system, processor, cpus
/// (that this process may use), memory_gib (of the machine, or less where the process's control group is limited). What
/// the system does not tell is null.
Json machine_facts();

}  // namespace chargpt
