#pragma once

#include <string>

namespace chargpt {

/// Processors' worth of time that the control groups of this process grant it, rounded up; 0: no limit. Version 2
/// (cpu.max) and version 1 (cpu.cfs_quota_us) are read, of its own group and of all above. membership: a file such as
/// /proc/self/cgroup; mount: where the groups' folders lie.
int cpu_quota(const std::string& membership = "/proc/self/cgroup", const std::string& mount = "/sys/fs/cgroup");

}  // namespace chargpt
