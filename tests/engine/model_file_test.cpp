#include "chargpt/engine/model_file.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <limits>

#include "support/model_switches.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

const Tokenizer kFourSymbols({U'a', U'b', U'"', U'😀'}, true);

CharGPT small_model(const ModelSwitches& switches = kModelSwitches[0]) {
  ModelConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 8;
  config.context = 4;
  switches.turn(config);
  return CharGPT(config, kFourSymbols.size());
}

TEST(ModelFileOfAModule, RoundTripsWeightsConfigAndVocabulary) {
  const TempDir dir;
  CharGPT model = small_model();
  save_model(dir / "m.safetensors", model, kFourSymbols);
  LoadedModel loaded = load_model(ModelFile(dir / "m.safetensors"), torch::kCPU, AttentionPath::heads);
  EXPECT_TRUE(loaded.model->flat().values().equal(model->flat().values()));
  EXPECT_EQ(loaded.tokenizer, kFourSymbols);
  EXPECT_EQ(loaded.model->config().heads, 2);
  EXPECT_EQ(loaded.model->config().attention, AttentionPath::heads);
  EXPECT_TRUE(loaded.verified);
}

TEST(ModelFileOfAModule, HoldsEachParameterUnderItsName) {
  for (const ModelSwitches& switches : kModelSwitches) {
    const TempDir dir;
    CharGPT model = small_model(switches);
    save_model(dir / "m.safetensors", model, kFourSymbols);
    const SafetensorsFile file(dir / "m.safetensors");
    for (const auto& parameter : model->named_parameters()) {
      const TensorEntry* tensor = file.find(parameter.key());
      ASSERT_NE(tensor, nullptr) << parameter.key();
      EXPECT_EQ(tensor->shape, parameter.value().sizes().vec()) << parameter.key();
      const auto bytes = file.bytes(*tensor);
      EXPECT_EQ(std::memcmp(bytes.data(), parameter.value().data_ptr(), bytes.size()), 0) << parameter.key();
    }
    EXPECT_EQ(file.tensors().size(), model->named_parameters().size());
  }
}

TEST(ModelFileOfAModule, KeepsTheSwitchesOfTheModel) {
  for (const ModelSwitches& switches : kModelSwitches) {
    const TempDir dir;
    CharGPT model = small_model(switches);
    save_model(dir / "m.safetensors", model, kFourSymbols);
    LoadedModel loaded = load_model(ModelFile(dir / "m.safetensors"));
    EXPECT_TRUE(loaded.model->flat().values().equal(model->flat().values())) << switches.name;
    const ModelConfig& got = loaded.model->config();
    EXPECT_EQ(got.tied_head, model->config().tied_head);
    EXPECT_EQ(got.bias, model->config().bias);
    EXPECT_EQ(got.embedding_dropout, model->config().embedding_dropout);
    EXPECT_EQ(got.initialization, model->config().initialization);
  }
}

TEST(ModelFileOfAModule, IsRefusedWithAWeightThatIsNotFinite) {
  const TempDir dir;
  CharGPT model = small_model();
  const torch::NoGradGuard no_grad;
  model->lm->bias[2] = std::numeric_limits<float>::quiet_NaN();
  save_model(dir / "m.safetensors", model, kFourSymbols);
  expect_error(ExitCode::unusable_model, {"m.safetensors", "lm.bias", "not finite"},
               [&] { load_model(ModelFile(dir / "m.safetensors")); });
}

}  // namespace
}  // namespace chargpt
