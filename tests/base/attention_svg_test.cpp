#include "chargpt/base/attention_svg.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(AttentionSvg, DrawsOneCellForEachPairThatTheMaskLeaves) {
  const std::vector<double> weights = {1, 0, 0, 0.25, 0.75, 0, 0.5, 0.125, 0.375};
  const std::string svg = attention_svg("head", {"a", "b", "c"}, weights);
  EXPECT_EQ(count(svg, " looks at "), 6U);
  for (const char* cell : {"a looks at a: 1.0000", "b looks at a: 0.2500", "c looks at b: 0.1250"}) {
    EXPECT_EQ(count(svg, cell), 1U) << cell;
  }
  EXPECT_EQ(count(svg, "a looks at b"), 0U);
}

TEST(AttentionSvg, EscapesWhatWouldBeMarkup) {
  const std::string svg = attention_svg("<|e|> & \"x\"", {"<|e|>"}, std::vector<double>{1.0});
  EXPECT_EQ(svg.find("<|e|>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;|e|&gt; &amp; &quot;x&quot;"), std::string::npos);
}

}  // namespace
}  // namespace chargpt
