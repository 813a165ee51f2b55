#include "chargpt/base/interval.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace chargpt {
namespace {

/// What may stand behind a number, in the plural.
struct UnitWord {
  std::string_view plural;
  IntervalUnit unit;
  std::int64_t factor;
};
constexpr std::array kUnitWords = {
    UnitWord{"steps", IntervalUnit::steps, 1}, UnitWord{"epochs", IntervalUnit::epochs, 1},
    UnitWord{"seconds", IntervalUnit::seconds, 1}, UnitWord{"minutes", IntervalUnit::seconds, 60},
    UnitWord{"hours", IntervalUnit::seconds, 3600}};

}  // namespace

std::string_view name(IntervalUnit value) {
  switch (value) {
    case IntervalUnit::steps:
      return "steps";
    case IntervalUnit::epochs:
      return "epochs";
    case IntervalUnit::seconds:
      return "seconds";
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
  for (const UnitWord& word : kUnitWords) {
    const std::string plural = fmt::format(" {}", word.plural);
    if (unit != plural && unit != plural.substr(0, plural.size() - 1)) continue;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(count, word.factor, &product)) return std::nullopt;
    return Interval(product, word.unit);
  }
  return std::nullopt;
}

bool Interval::due(std::int64_t step, std::int64_t windows, std::int64_t batch) const {
  if (count == 0) return false;
  const auto periods = [&](std::int64_t done) -> std::int64_t {
    switch (unit) {
      case IntervalUnit::steps:
        return done / count;
      case IntervalUnit::epochs:
        return done * batch / windows / count;
      case IntervalUnit::seconds:
        return 0;
    }
    return 0;
  };
  return periods(step) > periods(step - 1);
}

bool Interval::due(double before, double now) const {
  if (count == 0 || unit != IntervalUnit::seconds) return false;
  const auto period = static_cast<double>(count);
  return std::floor(now / period) > std::floor(before / period);
}

}  // namespace chargpt
