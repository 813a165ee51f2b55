#include "chargpt/base/model_size.hpp"

namespace chargpt {

std::int64_t parameter_count(const ModelConfig& config, std::int64_t vocabulary) {
  const std::int64_t C = config.width;
  const auto linear = [&](std::int64_t in, std::int64_t out) { return in * out + (config.bias ? out : 0); };
  const std::int64_t norm = config.bias ? 2 * C : C;
  const std::int64_t attention = 3 * C * C + linear(C, C);
  const std::int64_t feed_forward = linear(C, 4 * C) + linear(4 * C, C);
  const std::int64_t block = norm + attention + norm + feed_forward;
  const std::int64_t embeddings = (vocabulary + config.context) * C;
  const std::int64_t shared = config.tied_head ? vocabulary * C : 0;
  return embeddings + config.layers * block + norm + linear(C, vocabulary) - shared;
}

}  // namespace chargpt
