#include "chargpt/base/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace chargpt {
namespace {

constexpr int kMostDecimals = 5;

/// The smallest 1, 2 or 5 times a power of ten that is not below `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// A range that has room for ticks: values that are all but equal get one around them.
Axis range_of(double low, double high) {
  const double largest = std::max(std::abs(low), std::abs(high));
  if (high - low > std::max(1e-9 * largest, 1e-300)) return {low, high, {}, 0};
  const double half = largest < 1e-300 ? 1.0 : largest / 10;
  return {low - half, high + half, {}, 0};
}

/// The multiples of `step` in the range. A tick at its very end is not lost to rounding.
std::vector<double> multiples(const Axis& axis, double step) {
  std::vector<double> values;
  const double last = std::floor(axis.high / step + 1e-9);
  for (double i = std::ceil(axis.low / step - 1e-9); i <= last; ++i) values.push_back(i * step + 0.0);  // never -0
  return values;
}

Axis axis_of(double low, double high, int most) {
  Axis axis = range_of(low, high);
  double step = round_step((axis.high - axis.low) / most);
  axis.ticks = multiples(axis, step);
  while (axis.ticks.size() > static_cast<std::size_t>(most)) {
    step = round_step(step * 1.5);
    axis.ticks = multiples(axis, step);
  }
  axis.decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  const bool large = std::max(std::abs(axis.low), std::abs(axis.high)) >= 1e9;
  if (axis.decimals > kMostDecimals || large) axis.decimals = -1;
  return axis;
}

Axis axis_of(const Chart& chart, double Point::*member, int most) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      low = std::min(low, point.*member);
      high = std::max(high, point.*member);
    }
  }
  return low > high ? axis_of(0.0, 1.0, most) : axis_of(low, high, most);
}

}  // namespace

bool Chart::empty() const {
  return std::all_of(series.begin(), series.end(), [](const Series& one) { return one.points.empty(); });
}

std::string Axis::text(double value) const {
  return decimals < 0 ? fmt::format("{:.1e}", value) : fmt::format("{:.{}f}", value, decimals);
}

Axis x_axis(const Chart& chart, int ticks) { return axis_of(chart, &Point::x, ticks); }
Axis y_axis(const Chart& chart, int ticks) { return axis_of(chart, &Point::y, ticks); }

}  // namespace chargpt
