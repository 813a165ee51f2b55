#include "chargpt/base/svg_plot.hpp"

#include <fmt/format.h>

#include <array>

#include "chargpt/base/markup.hpp"

namespace chargpt {
namespace {

constexpr std::array kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A7F00"};

// Pixels.
constexpr double kWidth = 760, kLeft = 72, kRight = 24;
constexpr double kTop = 44, kPlot = 240, kBottom = 52, kLegendRow = 18;

struct Frame {
  Axis x, y;
  double top;  ///< of the curves

  double column(double value) const { return kLeft + x.place(value) * (kWidth - kLeft - kRight); }
  double row(double value) const { return top + (1 - y.place(value)) * kPlot; }
};

double height_of(const Chart& chart) {
  return kTop + kPlot + kBottom + (chart.series.size() > 1 ? kLegendRow * static_cast<double>(chart.series.size()) : 0);
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escape_markup(text));
}

std::string line_from(double x1, double y1, double x2, double y2, const std::string& style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

std::string stroke(std::size_t series) {
  return fmt::format("stroke=\"{}\" stroke-width=\"1.5\"{}", kColors[series % kColors.size()],
                     series < kColors.size() ? "" : " stroke-dasharray=\"5 3\"");
}

std::string scales(const Chart& chart, const Frame& frame) {
  const double bottom = frame.top + kPlot, right = kWidth - kRight;
  std::string svg;
  for (const double tick : frame.y.ticks) {
    svg += line_from(kLeft, frame.row(tick), right, frame.row(tick), "stroke=\"#dddddd\"");
    svg += text_at(kLeft - 8, frame.row(tick) + 4, "end", frame.y.text(tick));
  }
  for (const double tick : frame.x.ticks) {
    svg += line_from(frame.column(tick), bottom, frame.column(tick), bottom + 5, "stroke=\"#555555\"");
    svg += text_at(frame.column(tick), bottom + 19, "middle", frame.x.text(tick));
  }
  svg += line_from(kLeft, bottom, right, bottom, "stroke=\"#555555\"");
  return svg + text_at((kLeft + right) / 2, bottom + 38, "middle", chart.x_label);
}

std::string curve(const Series& series, std::size_t index, const Frame& frame) {
  if (series.points.size() == 1) {
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", frame.column(series.points[0].x),
                       frame.row(series.points[0].y), kColors[index % kColors.size()]);
  }
  std::string points;
  for (const Point& point : series.points) {
    points += fmt::format("{:.1f},{:.1f} ", frame.column(point.x), frame.row(point.y));
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, stroke(index));
}

std::string draw(const Chart& chart, double top) {
  const Frame frame{x_axis(chart, 8), y_axis(chart, 6), top + kTop};
  const std::string title = chart.y_label.empty() ? chart.title : chart.title + ", " + chart.y_label;
  std::string svg = "<g font-weight=\"bold\">" + text_at(kLeft, top + 28, "start", title) + "</g>\n";
  svg += scales(chart, frame);
  double row = frame.top + kPlot + kBottom;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    svg += curve(chart.series[i], i, frame);
    if (chart.series.size() == 1) continue;
    svg +=
        line_from(kLeft, row, kLeft + 28, row, stroke(i)) + text_at(kLeft + 36, row + 4, "start", chart.series[i].name);
    row += kLegendRow;
  }
  return svg;
}

}  // namespace

std::string svg_plot(const std::vector<Chart>& charts) {
  std::string drawn;
  double height = 0;
  for (const Chart& chart : charts) {
    drawn += draw(chart, height);
    height += height_of(chart);
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             kWidth, height) +
         drawn + "</svg>\n";
}

}  // namespace chargpt
