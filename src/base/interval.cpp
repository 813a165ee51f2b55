#include "chargpt/base/interval.hpp"

#include <fmt/format.h>

#include <charconv>

namespace chargpt {

std::string_view name(IntervalUnit value) {
  switch (value) {
    case IntervalUnit::steps:
      return "steps";
    case IntervalUnit::epochs:
      return "epochs";
  }
  return {};
}

std::string Interval::text() const {
  std::string_view unit_name = name(unit);
  if (count == 1) unit_name.remove_suffix(1);  // the plural's s
  return fmt::format("{} {}", count, unit_name);
}

std::optional<Interval> Interval::parse(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size());
  if (unit.empty()) return Interval(count);
  for (const IntervalUnit candidate : {IntervalUnit::steps, IntervalUnit::epochs}) {
    const std::string plural = fmt::format(" {}", name(candidate));
    if (unit == plural || unit == plural.substr(0, plural.size() - 1)) return Interval(count, candidate);
  }
  return std::nullopt;
}

bool Interval::due(std::int64_t step, std::int64_t windows, std::int64_t batch) const {
  if (count == 0) return false;
  const auto periods = [&](std::int64_t done) {
    switch (unit) {
      case IntervalUnit::steps:
        break;
      case IntervalUnit::epochs:
        return done * batch / windows / count;
    }
    return done / count;
  };
  return periods(step) > periods(step - 1);
}

}  // namespace chargpt
