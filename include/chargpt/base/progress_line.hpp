#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace chargpt {

/// How a training stands.
struct ProgressState {
  std::int64_t step = 0;  ///< steps done
  std::int64_t total_steps = 0;
  double loss = 0.0;                 ///< smoothed, nats per character
  std::optional<double> validation;  ///< last validation loss, nats per character
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  ///< before clipping
  double chars_per_second = 0.0;
  std::uint64_t memory = 0;  ///< resident, bytes; 0: not known
  double elapsed = 0.0;      ///< seconds since this process began to train
  double left = 0.0;         ///< seconds that the remaining steps will take
};

/// The state on one line of at most `width` columns, all ASCII. Where not all fits, the parts of least interest are
/// left out, in this order: memory, gradient norm, elapsed, learning rate, speed, validation, time left, loss.
std::string progress_line(const ProgressState& state, std::size_t width = std::numeric_limits<std::size_t>::max());

/// "2d 01:05:09", "1:05:09", "5:09" or "0:09".
std::string format_duration(double seconds);

/// "812", "95.3k", "1.24M".
std::string format_count(double count);

}  // namespace chargpt
