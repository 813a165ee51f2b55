#include "chargpt/base/model_size.hpp"

namespace chargpt {

std::int64_t parameter_count(const ModelConfig& config, std::int64_t vocabulary) {
  const std::int64_t C = config.width;
  const std::int64_t norm = 2 * C;
  const std::int64_t attention = 3 * C * C + C * C + C;
  const std::int64_t feed_forward = (C * 4 * C + 4 * C) + (4 * C * C + C);
  const std::int64_t block = norm + attention + norm + feed_forward;
  return vocabulary * C + config.context * C + config.layers * block + norm + C * vocabulary + vocabulary;
}

}  // namespace chargpt
