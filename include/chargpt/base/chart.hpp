#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chargpt {

struct Point {
  double x = 0.0, y = 0.0;
};

/// Points in the order of x, all finite.
struct Series {
  std::string name;
  std::vector<Point> points;
};

/// Curves over one pair of axes, to be drawn by line_plot or svg_plot.
struct Chart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;

  bool empty() const;  ///< no series has a point
};

/// One direction of a chart.
struct Axis {
  double low = 0.0, high = 1.0;  ///< low < high
  std::vector<double> ticks;     ///< within [low, high], at multiples of 1, 2 or 5 times a power of ten
  int decimals = 0;              ///< that tell the ticks apart; negative: they are best told in powers of ten

  /// Where a value lies, 0 at low and 1 at high.
  double place(double value) const { return (value - low) / (high - low); }
  /// A value as it is written at a tick.
  std::string text(double value) const;
};

/// Axes that hold all points of the chart, with at most `ticks` ticks (2 or more). Equal values get a range around
/// them.
Axis x_axis(const Chart& chart, int ticks);
Axis y_axis(const Chart& chart, int ticks);

}  // namespace chargpt
