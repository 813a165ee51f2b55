#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chargpt {

/// A stretch of a run: a number of optimizer steps, or per cent of all its steps.
struct PartOfRun {
  double count = 0.0;     ///< 0 or more; whole unless it is per cent
  bool per_cent = false;  ///< then count is 100 at most

  PartOfRun() = default;
  constexpr PartOfRun(std::int64_t steps) : count(static_cast<double>(steps)) {}  // NOLINT(google-explicit-constructor)
  constexpr PartOfRun(double n, bool of_the_run) : count(n), per_cent(of_the_run) {}
  bool operator==(const PartOfRun&) const = default;

  std::int64_t steps(std::int64_t total) const;  ///< per cent of `total` are rounded to the nearest step
  std::string text() const;                      ///< "100" or "5 %"
  /// Reads "100", "5 %", "2.5%"; nothing for any other text.
  static std::optional<PartOfRun> parse(std::string_view text);
};

}  // namespace chargpt
