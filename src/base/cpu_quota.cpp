#include "chargpt/base/cpu_quota.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "chargpt/base/control_groups.hpp"

namespace chargpt {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// "max 100000" is no number: no limit; nor is version 1's -1.
double share(double time, double period) { return time > 0.0 && period > 0.0 ? time / period : kNoLimit; }

double granted_by_version_2(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  double time = 0.0, period = 0.0;
  return file >> time >> period ? share(time, period) : kNoLimit;
}

double granted_by_version_1(const std::filesystem::path& group) {
  std::ifstream quota(group / "cpu.cfs_quota_us"), every(group / "cpu.cfs_period_us");
  double time = 0.0, period = 0.0;
  return quota >> time && every >> period ? share(time, period) : kNoLimit;
}

}  // namespace

int cpu_quota(const std::string& root) {
  const ControlGroups groups = control_groups("cpu", root);
  double granted = kNoLimit;
  for (const auto& group : groups.version_2) granted = std::min(granted, granted_by_version_2(group));
  for (const auto& group : groups.version_1) granted = std::min(granted, granted_by_version_1(group));
  return granted == kNoLimit ? 0 : static_cast<int>(std::min(std::ceil(granted), 1e6));
}

}  // namespace chargpt
