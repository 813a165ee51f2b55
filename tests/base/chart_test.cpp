#include "chargpt/base/chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "chargpt/base/line_plot.hpp"
#include "chargpt/base/markup.hpp"
#include "chargpt/base/svg_plot.hpp"
#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

Chart chart_from(double low, double high) { return {"loss", "step", "nats", {{"a", {{0, low}, {10, high}}}}}; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    lines.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  return lines;
}

TEST(Axis, TicksAreRoundWithinTheRangeAndNotTooMany) {
  for (const double low : {0.0, 1.37, -5.0, 1e-7, 12345.6}) {
    for (const double span : {1e-6, 0.013, 1.0, 7.7, 1e5}) {
      for (const int most : {2, 5, 8}) {
        const Axis axis = y_axis(chart_from(low, low + span), most);
        ASSERT_FALSE(axis.ticks.empty()) << low << " " << span;
        EXPECT_LE(axis.ticks.size(), static_cast<std::size_t>(most));
        std::set<std::string> texts;
        for (const double tick : axis.ticks) {
          EXPECT_GE(axis.place(tick), -1e-6);
          EXPECT_LE(axis.place(tick), 1 + 1e-6);
          if (span > 1e-5) texts.insert(axis.text(tick));
        }
        if (axis.decimals >= 0 && span > 1e-5) {
          EXPECT_EQ(texts.size(), axis.ticks.size()) << low << " " << span;
        }
      }
    }
  }
  const Axis axis = y_axis(chart_from(1.3, 4.2), 6);
  EXPECT_EQ(axis.ticks, (std::vector<double>{1.5, 2.0, 2.5, 3.0, 3.5, 4.0}));
  EXPECT_EQ(axis.text(1.5), "1.5");
}

TEST(Axis, OneValueGetsARangeAroundIt) {
  for (const double value : {0.0, 2.0, -3.0}) {
    const Axis axis = y_axis(chart_from(value, value), 5);
    EXPECT_LT(axis.low, value);
    EXPECT_GT(axis.high, value);
  }
  EXPECT_EQ(y_axis({}, 5).place(0.5), 0.5);
}

TEST(LinePlot, ARisingLineGoesFromCornerToCorner) {
  const auto lines = lines_of(line_plot(chart_from(0, 10), {40, 10, false}));
  ASSERT_EQ(lines.size(), 13U);
  EXPECT_EQ(lines[0], "loss, nats, by step");
  // From the lowest row upwards what is drawn lies ever further to the right.
  std::size_t before = 0;
  for (std::size_t row = 10; row >= 1; --row) {
    const std::u32string text = decode_utf8(lines[row], "line");
    const auto drawn = std::find_if(text.begin(), text.end(), [](char32_t c) { return c > 0x2800 && c < 0x2900; });
    ASSERT_NE(drawn, text.end()) << lines[row];
    const auto column = static_cast<std::size_t>(drawn - text.begin());
    EXPECT_GT(column, before);
    before = column;
  }
  EXPECT_GT(before, 30U);
}

TEST(LinePlot, NoLineIsWiderThanAsked) {
  Chart chart = chart_from(1e-5, 3e-5);
  chart.series.push_back({std::string(300, 'n') + "中文", {{0, 1e-5}, {5e6, 2e-5}}});
  for (const int width : {30, 31, 57, 80, 200}) {
    for (const std::string& line : lines_of(line_plot(chart, {width, 8, false}))) {
      EXPECT_LE(display_width(decode_utf8(line, "line")), width) << line;
    }
  }
}

TEST(LinePlot, SeveralSeriesAreToldApart) {
  Chart chart = chart_from(0, 10);
  chart.series.push_back({"b", {{0, 10}, {10, 0}}});
  const std::string plain = line_plot(chart, {60, 8, false});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(plain.find("  A a\n  B b\n"), std::string::npos) << plain;
  const std::string colored = line_plot(chart, {60, 8, true});
  EXPECT_NE(colored.find("\x1b[31m"), std::string::npos);
  EXPECT_NE(colored.find("\x1b[32m"), std::string::npos);
}

TEST(LinePlot, ControlCharactersOfANameReachNoTerminal) {
  Chart chart = chart_from(0, 1);
  chart.series.push_back({"evil\x1b[2J\n", {{0, 1}}});
  const std::string text = line_plot(chart, {60, 8, false});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(SvgPlot, DrawsEachPointInItsPlace) {
  Chart chart = chart_from(0, 10);
  chart.series.push_back({"<b>&\"'\x01", {{5, 5}}});
  const std::string svg = svg_plot({chart, chart});
  // 72 to 736 across; 44 down to 284.
  EXPECT_NE(svg.find("<polyline points=\"72.0,284.0 736.0,44.0 \""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<circle cx=\"404.0\" cy=\"164.0\""), std::string::npos);
  EXPECT_NE(svg.find("&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Markup, EscapesWhatIsMarkupAndKeepsTheRest) {
  EXPECT_EQ(escape_markup("a<b>&\"c\"'\t\n中"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;\t\n中");
  EXPECT_EQ(escape_markup(std::string("\0\x1b", 2)), "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace chargpt
