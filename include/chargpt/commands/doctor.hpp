#pragma once

#include <string>
#include <vector>

#include "chargpt/base/json.hpp"
#include "chargpt/engine/numerics.hpp"

namespace chargpt {

/// A check and where it was made.
struct DeviceCheck {
  std::string device;
  Check check;
};

/// Prints what doctor found, as text or as one JSON document. Returns the exit code: 1 when a check failed.
int report_doctor(const Json& facts, const std::vector<DeviceCheck>& checks, bool json);

}  // namespace chargpt
