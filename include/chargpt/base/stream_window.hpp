#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace chargpt {

/// What a model sees of one of several streams of ids that are being written.
struct StreamWindow {
  std::size_t stream;                 ///< numbers the streams from 0
  std::span<const std::int32_t> ids;  ///< 1 to context of them, in [0, vocabulary)
};

/// Called with the number of a row of logits that is complete.
using RowReady = std::function<void(std::size_t row)>;

}  // namespace chargpt
