#pragma once

#include <string>

#include "chargpt/base/chart.hpp"

namespace chargpt {

/// Size and looks of a chart in a terminal.
struct PlotStyle {
  int width = 80;      ///< columns, all of the chart; at least 30
  int height = 14;     ///< rows of the curves; at least 2
  bool color = false;  ///< tell the series apart by colour (ANSI codes 31 to 36), not by letters
};

/// A chart as lines of text, no line wider than the style says: title, curves with a scale at their left and below, and
/// where there are several series a legend. One series, and every one in colour, is drawn in Braille dots (Unicode
/// block 2800, 2 by 4 a character); several without colour in the letters A, B, C ... that the legend gives them.
std::string line_plot(const Chart& chart, const PlotStyle& style);

}  // namespace chargpt
