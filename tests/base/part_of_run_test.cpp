#include "chargpt/base/part_of_run.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

TEST(PartOfRun, ReadsWhatItWrites) {
  for (const PartOfRun part : {PartOfRun(0), PartOfRun(250), PartOfRun(5.0, true), PartOfRun(2.5, true)}) {
    EXPECT_EQ(PartOfRun::parse(part.text()), part) << part.text();
  }
  EXPECT_EQ(PartOfRun::parse("5%"), PartOfRun(5.0, true));
  EXPECT_EQ(PartOfRun::parse("100.0"), PartOfRun(100));
  EXPECT_EQ(PartOfRun(5.0, true).text(), "5 %");
}

TEST(PartOfRun, RefusesOtherTexts) {
  for (const char* text : {"", "%", "5  %", " 5 %", "5 % ", "-1", "-1 %", "1.5", "101 %", "nan %", "inf", "5 steps"}) {
    EXPECT_FALSE(PartOfRun::parse(text)) << text;
  }
}

TEST(PartOfRun, RoundsPerCentToTheNearestStep) {
  EXPECT_EQ(PartOfRun(7).steps(1000), 7);
  EXPECT_EQ(PartOfRun(5.0, true).steps(1000), 50);
  EXPECT_EQ(PartOfRun(5.0, true).steps(29), 1);
  EXPECT_EQ(PartOfRun(5.0, true).steps(30), 2);
  EXPECT_EQ(PartOfRun(100.0, true).steps(30), 30);
}

}  // namespace
}  // namespace chargpt
