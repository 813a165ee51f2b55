#include "chargpt/base/preparation_line.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

TEST(PreparationLine, SaysHowFarItIsHowFastAndHowLongItTakes) {
  EXPECT_EQ(preparation_line({"d.txt", 350'000'000, 2'000'000'000}, 2.0),
            "preparing d.txt: 350 of 2000 MB (18%), 175 MB/s, 0:09 left");
  EXPECT_EQ(preparation_line({"-", 35'000'000, 0}, 7.0), "preparing -: 35 MB, 5 MB/s");
  EXPECT_EQ(preparation_line({"-", 35'000'000, 0}, 7.0, "reading"), "reading -: 35 MB, 5 MB/s");
}

}  // namespace
}  // namespace chargpt
