#include "chargpt/base/cpu_quota.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace chargpt {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// "max 100000" is no number: no limit; nor is version 1's -1.
double share(double time, double period) { return time > 0.0 && period > 0.0 ? time / period : kNoLimit; }

double read_version_2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double time = 0.0, period = 0.0;
  return file >> time >> period ? share(time, period) : kNoLimit;
}

double read_version_1(const std::string& folder) {
  std::ifstream quota(folder + "/cpu.cfs_quota_us"), every(folder + "/cpu.cfs_period_us");
  double time = 0.0, period = 0.0;
  return quota >> time && every >> period ? share(time, period) : kNoLimit;
}

/// The least of what the group and those above it grant. In a container the path may be the host's: then only the root
/// is found, which is the container's own group.
template <class Read>
double least(const std::string& mount, std::string path, const Read& read) {
  double granted = kNoLimit;
  while (true) {
    granted = std::min(granted, read(mount + path));
    if (path.empty()) return granted;
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

/// Whether version 1's list of controllers, such as "cpu,cpuacct", has that of processor time.
bool controls_cpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

int cpu_quota(const std::string& membership, const std::string& mount) {
  double granted = kNoLimit;
  std::ifstream file(membership);
  for (std::string line; std::getline(file, line);) {  // hierarchy:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) granted = std::min(granted, least(mount, path, read_version_2));
    if (controls_cpu(controllers)) granted = std::min(granted, least(mount + "/cpu", path, read_version_1));
  }
  return granted == kNoLimit ? 0 : static_cast<int>(std::min(std::ceil(granted), 1e6));
}

}  // namespace chargpt
