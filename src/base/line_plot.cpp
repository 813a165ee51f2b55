#include "chargpt/base/line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr int kDotColumns = 2, kDotRows = 4;  // dots of a Braille character
constexpr int kColors = 6;

/// Bits of the dots of a Braille character, by row and column (Unicode standard, section 21.1).
constexpr int kDots[kDotRows][kDotColumns] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

/// A character of the drawing area: what is drawn, and by which series.
struct Cell {
  int dots = 0;
  int series = -1;
};

class Canvas {
 public:
  Canvas(int columns, int rows) : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}

  int columns() const { return columns_ * kDotColumns; }
  int rows() const { return rows_ * kDotRows; }
  const Cell& cell(int column, int row) const { return cells_[static_cast<std::size_t>(row * columns_ + column)]; }

  /// Sets a dot; x from the left, y from the top.
  void set(int x, int y, int series) {
    Cell& cell = cells_[static_cast<std::size_t>(y / kDotRows * columns_ + x / kDotColumns)];
    cell.dots |= kDots[y % kDotRows][x % kDotColumns];
    cell.series = series;
  }

  /// All dots on the way from one to another.
  void line(int x0, int y0, int x1, int y1, int series) {
    const int length = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= length; ++i) {
      set(x0 + (x1 - x0) * i / length, y0 + (y1 - y0) * i / length, series);
    }
  }

 private:
  int columns_, rows_;
  std::vector<Cell> cells_;
};

void draw(const Series& series, int index, const Axis& x, const Axis& y, Canvas& canvas) {
  const auto column = [&](const Point& p) {
    return static_cast<int>(std::lround(x.place(p.x) * (canvas.columns() - 1)));
  };
  const auto row = [&](const Point& p) {
    return static_cast<int>(std::lround((1 - y.place(p.y)) * (canvas.rows() - 1)));
  };
  const Point* before = nullptr;
  for (const Point& point : series.points) {
    const Point& from = before == nullptr ? point : *before;
    canvas.line(column(from), row(from), column(point), row(point), index);
    before = &point;
  }
}

std::string letter(int series) { return std::string(1, static_cast<char>('A' + series % 26)); }

std::string colored(const std::string& text, int series, bool color) {
  return color ? fmt::format("\x1b[{}m{}\x1b[0m", 31 + series % kColors, text) : text;
}

std::string cell_text(const Cell& cell, bool letters, bool color) {
  if (cell.dots == 0) return " ";
  if (letters) return letter(cell.series);
  return colored(encode_utf8(static_cast<char32_t>(0x2800 + cell.dots)), cell.series, color);
}

/// At most so many columns of a name, its end kept: there names of runs differ.
std::string fitted(const std::string& name, int width) {
  std::u32string text = decode_utf8(name, "a name");
  std::u32string safe;
  for (const char32_t c : text) safe += c == U' ' ? U" " : visible(c);
  while (display_width(safe) > width) safe.erase(0, 1);
  return encode_utf8(safe);
}

std::string legend(const Chart& chart, bool letters, const PlotStyle& style) {
  std::string lines;
  for (int i = 0; i < static_cast<int>(chart.series.size()); ++i) {
    const std::string sign = letters ? letter(i) : colored("━━", i, style.color);
    lines += fmt::format("  {} {}\n", sign, fitted(chart.series[static_cast<std::size_t>(i)].name, style.width - 6));
  }
  return lines;
}

/// The scale below: each tick's text centred under it, left out where it would touch the one before.
std::string x_scale(const Axis& axis, int margin, int columns) {
  std::string line(static_cast<std::size_t>(margin + columns), ' ');
  int free_from = margin;
  for (const double tick : axis.ticks) {
    const std::string text = axis.text(tick);
    const int length = static_cast<int>(text.size());
    if (length > columns) continue;
    const int centre = margin + static_cast<int>(std::lround(axis.place(tick) * (columns - 1)));
    const int begin = std::clamp(centre - length / 2, margin, margin + columns - length);
    if (begin < free_from) continue;
    line.replace(static_cast<std::size_t>(begin), text.size(), text);
    free_from = begin + length + 2;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

/// The text of the tick that lies in each row, empty where there is none.
std::vector<std::string> y_labels(const Axis& axis, int rows) {
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  for (const double tick : axis.ticks) {
    const auto row = static_cast<std::size_t>(std::lround((1 - axis.place(tick)) * (rows - 1)));
    labels[row] = axis.text(tick);
  }
  return labels;
}

}  // namespace

std::string line_plot(const Chart& chart, const PlotStyle& style) {
  const Axis y = y_axis(chart, std::max(2, style.height / 2));
  const auto labels = y_labels(y, style.height);
  std::size_t margin = 0;
  for (const std::string& label : labels) margin = std::max(margin, label.size());
  const int columns = std::max(1, style.width - static_cast<int>(margin) - 3);
  const Axis x = x_axis(chart, std::max(2, columns / 12));
  const bool letters = !style.color && chart.series.size() > 1;

  Canvas canvas(columns, style.height);
  for (int i = 0; i < static_cast<int>(chart.series.size()); ++i) {
    draw(chart.series[static_cast<std::size_t>(i)], i, x, y, canvas);
  }
  std::string text =
      fmt::format("{}{}, by {}\n", chart.title, chart.y_label.empty() ? "" : ", " + chart.y_label, chart.x_label);
  for (int row = 0; row < style.height; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    std::string line = fmt::format("{:>{}} {}", label, margin, label.empty() ? "│" : "┤");
    for (int column = 0; column < columns; ++column) line += cell_text(canvas.cell(column, row), letters, style.color);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += std::string(margin + 1, ' ') + "└";
  for (int column = 0; column < columns; ++column) text += "─";
  text += "\n" + x_scale(x, static_cast<int>(margin) + 2, columns);
  return text + (chart.series.size() > 1 ? legend(chart, letters, style) : "");
}

}  // namespace chargpt
