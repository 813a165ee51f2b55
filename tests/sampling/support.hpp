#pragma once

#include <algorithm>

#include "chargpt/sampling/sample_writer.hpp"

namespace chargpt {

/// A model that is sure that the id after n is n + 1, in a circle.
inline void count_up(std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
  std::fill(logits.begin(), logits.end(), 0.0F);
  const std::size_t V = logits.size() / windows.size();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    logits[i * V + static_cast<std::size_t>(windows[i].ids.back() + 1) % V] = 50.0F;
    ready(i);
  }
}

/// A model that knows nothing.
inline void flat(std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
  std::fill(logits.begin(), logits.end(), 0.0F);
  for (std::size_t i = 0; i < windows.size(); ++i) ready(i);
}

}  // namespace chargpt
