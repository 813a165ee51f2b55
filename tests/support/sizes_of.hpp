#pragma once

#include <cstdint>
#include <vector>

#include "chargpt/base/offsets.hpp"

namespace chargpt {

inline std::vector<std::int64_t> sizes_of(const Offsets& offsets) {
  std::vector<std::int64_t> sizes;
  offsets.for_sizes_from(0, [&](std::int64_t size) {
    sizes.push_back(size);
    return true;
  });
  return sizes;
}

}  // namespace chargpt
