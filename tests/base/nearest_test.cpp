#include "chargpt/base/nearest.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

const std::vector<std::string> kKnown = {"learning_rate", "steps", "batch", "seed", "top_k"};

TEST(Nearest, FindsALostAddedChangedOrSwappedLetter) {
  EXPECT_EQ(nearest("learning_rat", kKnown), "learning_rate");
  EXPECT_EQ(nearest("batchs", kKnown), "batch");
  EXPECT_EQ(nearest("betch", kKnown), "batch");
  EXPECT_EQ(nearest("setps", kKnown), "steps");
  EXPECT_EQ(nearest("sed", kKnown), "seed");
}

TEST(Nearest, IgnoresCaseAndHyphens) {
  EXPECT_EQ(nearest("Learning-Rate", kKnown), "learning_rate");
  EXPECT_EQ(nearest("TOP_K", kKnown), "top_k");
}

TEST(Nearest, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest("temperature", kKnown), "");
  EXPECT_EQ(nearest("xyz", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest("steps", {}), "");
}

TEST(Nearest, TakesTheNearerAndOfEqualOnesTheFirst) {
  EXPECT_EQ(nearest("stepz", {"stepzab", "steps", "stepx"}), "steps");
  EXPECT_EQ(nearest("stepz", {"stepx", "steps"}), "stepx");
}

TEST(Nearest, IsEmptyForAnEndlessName) { EXPECT_EQ(nearest(std::string(1000000, 'a'), kKnown), ""); }

TEST(Nearest, OfSeveralAtOneDistanceTheOneWithLettersLeftOutIsMeant) {
  EXPECT_EQ(nearest("sed", {"set", "seed"}), "seed");
  EXPECT_EQ(nearest("sed", {"seed", "set"}), "seed");
}

}  // namespace
}  // namespace chargpt
