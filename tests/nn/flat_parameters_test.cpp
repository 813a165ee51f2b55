#include "chargpt/nn/flat_parameters.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "chargpt/nn/char_gpt.hpp"
#include "support/model_switches.hpp"

namespace chargpt {
namespace {

CharGPT make_model(const ModelSwitches& switches = kModelSwitches[0]) {
  ModelConfig config;
  config.layers = 1;
  config.heads = 2;
  config.width = 8;
  config.context = 4;
  switches.turn(config);
  return CharGPT(config, 5);
}

TEST(FlatParameters, ModulesSeeWhatIsWrittenIntoTheBuffer) {
  CharGPT model = make_model();
  const torch::NoGradGuard no_grad;
  model->flat().values().fill_(3.0);
  for (const auto& parameter : model->parameters()) EXPECT_TRUE(parameter.eq(3.0).all().item<bool>());
}

TEST(FlatParameters, HoldEveryParameterOfTheModel) {
  for (const ModelSwitches& switches : kModelSwitches) {
    CharGPT model = make_model(switches);
    EXPECT_EQ(model->flat().entries().size(), model->parameters().size()) << switches.name;
  }
}

TEST(FlatParameters, GradientsAccumulateInPlace) {
  CharGPT model = make_model();
  const void* before = model->flat().gradients().data_ptr();
  const torch::Tensor ids = torch::zeros({1, 4}, torch::kLong);
  model->forward(ids).sum().backward();
  const torch::Tensor once = model->flat().gradients().clone();
  model->forward(ids).sum().backward();
  EXPECT_EQ(model->lm->bias.grad().data_ptr<float>(),
            model->flat().gradients().data_ptr<float>() + model->flat().size() - 5);
  EXPECT_EQ(model->flat().gradients().data_ptr(), before);
  EXPECT_TRUE(model->flat().gradients().allclose(2 * once));
  model->flat().zero_gradients();
  EXPECT_EQ(model->lm->bias.grad().abs().sum().item<float>(), 0.0F);
}

TEST(FlatParameters, QueriesKeysAndValuesOfABlockAreOneMatrix) {
  CharGPT model = make_model();
  auto mha = model->blocks->at<BlockImpl>(0).mha;
  const torch::Tensor qkv = mha->qkv;
  for (std::size_t h = 0; h < 2; ++h) {
    const auto& head = mha->heads->at<MaskedAttentionImpl>(h);
    const auto row = static_cast<std::int64_t>(h) * 4;
    EXPECT_TRUE(qkv.slice(0, row, row + 4).equal(head.query->weight));
    EXPECT_TRUE(qkv.slice(0, 8 + row, 12 + row).equal(head.key->weight));
    EXPECT_TRUE(qkv.slice(0, 16 + row, 20 + row).equal(head.value->weight));
  }
}

}  // namespace
}  // namespace chargpt
