#include "chargpt/base/control_groups.hpp"

#include <fstream>

namespace chargpt {
namespace {

void add_with_all_above(std::vector<std::filesystem::path>& folders, const std::string& top, std::string path) {
  while (true) {
    folders.emplace_back(top + path);
    if (path.empty()) return;
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

/// Whether version 1's list of controllers, such as "cpu,cpuacct", has this one.
bool lists(const std::string& controllers, const std::string& controller) {
  return ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
}

}  // namespace

ControlGroups control_groups(const std::string& controller, const std::string& root) {
  const std::string top = root + "/sys/fs/cgroup";
  ControlGroups groups;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // hierarchy:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) add_with_all_above(groups.version_2, top, path == "/" ? "" : path);
    if (lists(controllers, controller)) {
      add_with_all_above(groups.version_1, top + "/" + controller, path == "/" ? "" : path);
    }
  }
  return groups;
}

}  // namespace chargpt
