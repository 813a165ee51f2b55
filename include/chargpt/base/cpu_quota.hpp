#pragma once

#include <string>

namespace chargpt {

/// Processors' worth of time that the control groups of this process grant it, rounded up; 0: no limit. Version 2
/// (cpu.max) and version 1 (cpu.cfs_quota_us) are read. `root`: where the files of the system lie.
int cpu_quota(const std::string& root = "");

}  // namespace chargpt
