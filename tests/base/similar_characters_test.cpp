#include "chargpt/base/similar_characters.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chargpt {
namespace {

std::u32string similar(char32_t code_point, std::u32string_view known) {
  const auto found = similar_characters(code_point, {known.begin(), known.end()});
  return {found.begin(), found.end()};
}

TEST(SimilarCharacters, DifferInCaseMarksWidthOrForm) {
  EXPECT_EQ(similar(U'é', U"adeEf"), U"eE");
  EXPECT_EQ(similar(U'E', U"adef"), U"e");
  EXPECT_EQ(similar(U'ö', U"nop"), U"o");
  EXPECT_EQ(similar(U'’', U"!\"#'"), U"'");
  EXPECT_EQ(similar(U'—', U"+,-."), U"-");
  EXPECT_EQ(similar(U'Ａ', U"ABC"), U"A");
}

TEST(SimilarCharacters, AreElseTheNearestOfTheirClass) {
  EXPECT_EQ(similar(U'7', U"13589ab"), U"859");
  EXPECT_EQ(similar(U'漢', U".,月明"), U"月明");
  EXPECT_EQ(similar(U'7', U"abc"), U"");
}

}  // namespace
}  // namespace chargpt
