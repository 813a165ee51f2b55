#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace chargpt {

/// Folders of the control groups (cgroups(7)) that limit this process: its own group's and those of all groups above
/// it, the root last. They need not exist: in a container the process may see the host's path, of which only the root
/// is there, and that is the container's own group.
struct ControlGroups {
  std::vector<std::filesystem::path> version_1, version_2;
};

/// controller: "cpu" or "memory"; version 2 has one hierarchy for all. `root`: where the files of the system lie.
ControlGroups control_groups(const std::string& controller, const std::string& root = "");

}  // namespace chargpt
