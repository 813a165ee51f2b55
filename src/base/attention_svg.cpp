#include "chargpt/base/attention_svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr int kCell = 20;   // pixels
constexpr int kLetter = 9;  // width of a column of text
constexpr int kTitle = 40;  // height of the title
constexpr int kMargin = 12;

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

int label_space(const std::vector<std::string>& labels) {
  int widest = 1;
  for (const std::string& label : labels) widest = std::max(widest, display_width(decode_utf8(label, "label")));
  return widest * kLetter + kMargin;
}

std::string cell(int x, int y, const std::string& pair, double weight) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#08306b\" fill-opacity=\"{:.4f}\"><title>{}: "
      "{:.4f}</title></rect>\n",
      x, y, kCell, kCell, weight, escaped(pair), weight);
}

std::string label_text(int x, int y, const char* anchor, const std::string& label, int degrees) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" transform=\"rotate({} {} {})\">{}</text>\n", x, y,
                     anchor, degrees, x, y, escaped(label));
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
      width, top + side + kMargin, kMargin, escaped(title));
  svg +=
      fmt::format("<path d=\"M{0} {1} h{2} v{2} z\" fill=\"#eeeeee\"><title>masked</title></path>\n", left, top, side);
  for (int i = 0; i < T; ++i) {
    const int centre = i * kCell + kCell / 2;
    const std::string& label = labels[static_cast<std::size_t>(i)];
    svg += label_text(left - 6, top + centre + 5, "end", label, 0);
    svg += label_text(left + centre + 5, top - 6, "start", label, -90);
    for (int j = 0; j <= i; ++j) {
      const std::string pair = fmt::format("{} looks at {}", label, labels[static_cast<std::size_t>(j)]);
      svg += cell(left + j * kCell, top + i * kCell, pair, weights[static_cast<std::size_t>(i * T + j)]);
    }
  }
  svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999999\"/>\n</svg>\n",
                     left, top, side, side);
  return svg;
}

}  // namespace chargpt
