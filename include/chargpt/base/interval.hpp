#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chargpt {

enum class IntervalUnit { steps, epochs, seconds };
std::string_view name(IntervalUnit value);

/// How often something is done while training: every `count` optimizer steps, epochs or seconds; 0: not periodically.
/// Without a unit a number means steps.
struct Interval {
  std::int64_t count = 0;
  IntervalUnit unit = IntervalUnit::steps;

  Interval() = default;
  constexpr Interval(std::int64_t steps) : count(steps) {}  // NOLINT(google-explicit-constructor): a number of steps
  constexpr Interval(std::int64_t n, IntervalUnit u) : count(n), unit(u) {}
  bool operator==(const Interval&) const = default;

  /// "2 epochs", "250 steps", "30 seconds".
  std::string text() const;
  /// Reads "2 epochs", "1 epoch", "250 steps", "250", "30 seconds"; "10 minutes" and "2 hours" as seconds; nothing for
  /// any other text.
  static std::optional<Interval> parse(std::string_view text);

  /// Whether `step` steps done (1 or more) end a period, where an epoch has `windows` windows and a step takes `batch`.
  /// Epoch e ends with the first step that brings the windows taken to e * windows or more. Never for seconds.
  bool due(std::int64_t step, std::int64_t windows, std::int64_t batch) const;
  /// Whether a period of seconds ends after `before` and not after `now`, both counted from one start. Never for steps
  /// and epochs.
  bool due(double before, double now) const;
};

}  // namespace chargpt
