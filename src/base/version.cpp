#include "chargpt/base/version.hpp"

namespace chargpt {

std::string_view version() { return CHARGPT_VERSION; }

}  // namespace chargpt
