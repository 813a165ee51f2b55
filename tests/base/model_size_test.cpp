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

// nanoGPT says of its Shakespeare model "number of parameters: 10.65M", without its 256 x 384 position embeddings.
TEST(ModelSize, NanoGptsShakespeareModelHas10646784ParametersAndItsPositions) {
  ModelConfig config;
  config.layers = 6;
  config.heads = 6;
  config.width = 384;
  config.context = 256;
  config.bias = false;
  config.tied_head = true;
  EXPECT_EQ(parameter_count(config, 65), 10'646'784 + 256 * 384);
}

}  // namespace
}  // namespace chargpt
