#include "chargpt/base/attention_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chargpt/base/markup.hpp"
#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr int kCell = 20;   // pixels
constexpr int kLetter = 9;  // width of a column of text
constexpr int kTitle = 40;  // height of the title
constexpr int kMargin = 12;

int width_of(const std::string& label) { return display_width(decode_utf8(label, "label")); }

int label_space(const std::vector<std::string>& labels) {
  int widest = 1;
  for (const std::string& label : labels) widest = std::max(widest, width_of(label));
  return widest * kLetter + kMargin;
}

/// From white for 0 to dark blue for 1, by the root of the weight. Not opacity: what lies below would shine through.
std::string colour(double weight) {
  const double depth = std::sqrt(weight);
  const auto mix = [depth](int dark) { return static_cast<int>(std::lround(255 + depth * (dark - 255))); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0x08), mix(0x30), mix(0x6b));
}

std::string square(int x, int y, int side, const std::string& fill, const std::string& title) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n", x, y,
                     side, side, fill, escape_markup(title));
}

std::string row_label(int x, int y, const std::string& label) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x, y, escape_markup(label));
}

/// Centred above its column, or turned upwards where it is wider than that.
std::string column_label(int centre, int y, const std::string& label) {
  if (width_of(label) <= 2) {
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", centre, y, escape_markup(label));
  }
  return fmt::format("<text x=\"{0}\" y=\"{1}\" transform=\"rotate(-90 {0} {1})\">{2}</text>\n", centre + 5, y,
                     escape_markup(label));
}

}  // namespace

std::string attention_svg(const std::string& title, const std::vector<std::string>& labels,
                          std::span<const double> weights) {
  const auto T = static_cast<int>(labels.size());
  const int left = kMargin + label_space(labels), top = kTitle + label_space(labels);
  const int side = T * kCell;
  const int width = std::max(left + side, static_cast<int>(title.size()) * kLetter) + kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"24\">{3}</text>\n",
      width, top + side + kMargin, kMargin, escape_markup(title));
  svg += square(left, top, side, "#eeeeee", "masked");
  for (int i = 0; i < T; ++i) {
    const int centre = i * kCell + kCell / 2;
    const std::string& label = labels[static_cast<std::size_t>(i)];
    svg += row_label(left - 6, top + centre + 5, label);
    svg += column_label(left + centre, top - 6, label);
    for (int j = 0; j <= i; ++j) {
      const double weight = weights[static_cast<std::size_t>(i * T + j)];
      svg += square(left + j * kCell, top + i * kCell, kCell, colour(weight),
                    fmt::format("{} looks at {}: {:.4f}", label, labels[static_cast<std::size_t>(j)], weight));
    }
  }
  return svg + "</svg>\n";
}

}  // namespace chargpt
