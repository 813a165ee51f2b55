#include "chargpt/commands/stop_rule.hpp"

#include <algorithm>

namespace chargpt {

bool StopRule::stopped() {
  const Clock::time_point now = Clock::now();
  longest_ = std::max(longest_, now - last_asked_);
  last_asked_ = now;
  return signal_.load() != 0 || (deadline_ && now + 2 * longest_ >= *deadline_);
}

}  // namespace chargpt
