#include "chargpt/base/model_size.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

TEST(ModelSize, TheLecturesModelHas2408290Parameters) {
  ModelConfig config;
  config.layers = 12;
  config.heads = 16;
  config.width = 128;
  config.context = 64;
  EXPECT_EQ(parameter_count(config, 98), 2'408'290);
}

}  // namespace
}  // namespace chargpt
