#pragma once

#include <string>

#include "chargpt/base/checkpoint_folder.hpp"

namespace chargpt {

inline const std::string kHash = "0123456789abcdef0123456789abcdef";

inline Manifest some_manifest(std::int64_t step) {
  Manifest manifest;
  manifest.step = step;
  manifest.config = {{"optimizer", {{"learning_rate", 0.1}}}, {"name", "中"}};
  manifest.data = {123, kHash};
  manifest.build = {{"version", "0.1.0"}, {"threads", 2}};
  manifest.smoothed_loss = 1.0 / 3;
  manifest.acts_pending = true;
  return manifest;
}

}  // namespace chargpt
