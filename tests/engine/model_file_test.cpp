#include "chargpt/engine/model_file.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/error.hpp"
#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

const Tokenizer kTokenizer({U'a', U'b', U'"', U'😀'}, true);

ModelConfig small_config() {
  ModelConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 8;
  config.context = 4;
  return config;
}

class ModelFileTest : public testing::Test {
 protected:
  void expect_refused(const std::string& path, const std::string& part) {
    try {
      load_model(path);
      ADD_FAILURE() << "accepted " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::unusable_model) << error.what();
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  /// A sound file's content, to be spoilt in one place.
  std::map<std::string, std::string> metadata() {
    Config config;
    config.model = small_config();
    return {{"format", "chargpt-model"},
            {"version", "1"},
            {"config", to_json_line(to_json(config).at("model"))},
            {"vocabulary", to_json_line(kTokenizer.to_json())}};
  }
  std::vector<TensorView> views() { return tensor_views(model_->flat(), model_->flat().values()); }
  std::string write(const std::vector<TensorView>& tensors, const std::map<std::string, std::string>& data) {
    write_safetensors(dir_ / "spoilt.safetensors", tensors, data);
    return dir_ / "spoilt.safetensors";
  }

  TempDir dir_;
  CharGPT model_{small_config(), 5};
};

TEST_F(ModelFileTest, RoundTripsWeightsConfigAndVocabulary) {
  save_model(dir_ / "m.safetensors", model_, kTokenizer);
  LoadedModel loaded = load_model(dir_ / "m.safetensors");
  EXPECT_TRUE(loaded.model->flat().values().equal(model_->flat().values()));
  EXPECT_EQ(loaded.tokenizer, kTokenizer);
  EXPECT_EQ(loaded.model->config().heads, 2);
  EXPECT_TRUE(loaded.verified);
}

TEST_F(ModelFileTest, AcceptsASoundFileBuiltByHand) { EXPECT_NO_THROW(load_model(write(views(), metadata()))); }

TEST_F(ModelFileTest, RefusesAMissingTensorByName) {
  auto tensors = views();
  tensors.pop_back();
  expect_refused(write(tensors, metadata()), views().back().name);
}

TEST_F(ModelFileTest, RefusesAnExtraTensorByName) {
  auto tensors = views();
  const float one = 1.0F;
  tensors.push_back({"stranger", {1}, &one});
  expect_refused(write(tensors, metadata()), "stranger");
}

TEST_F(ModelFileTest, RefusesAMisshapenTensorByName) {
  auto tensors = views();
  std::swap(tensors[0].shape[0], tensors[0].shape[1]);
  expect_refused(write(tensors, metadata()), "token_emb.weight");
}

TEST_F(ModelFileTest, RefusesAWeightThatIsNotFiniteByName) {
  const torch::NoGradGuard no_grad;
  model_->lm->bias[2] = std::numeric_limits<float>::quiet_NaN();
  expect_refused(write(views(), metadata()), "lm.bias");
}

TEST_F(ModelFileTest, RefusesMetadataThatDoesNotFit) {
  const auto with = [&](const std::string& key, const std::string& value) {
    auto data = metadata();
    data[key] = value;
    return write(views(), data);
  };
  expect_refused(with("format", "other"), "format");
  expect_refused(with("version", "2"), "version");
  expect_refused(with("config", "{"), "config");
  expect_refused(with("config", "{\"layers\": 0}"), "model.layers");
  expect_refused(with("config", "{\"layers\": 1024, \"width\": 65536, \"context\": 4096}"), "parameters");
  expect_refused(with("vocabulary", "[\"a\", \"a\"]"), "vocabulary");
  expect_refused(with("vocabulary", "[\"a\", \"b\"]"), "token_emb.weight");
  auto without = metadata();
  without.erase("vocabulary");
  expect_refused(write(views(), without), "vocabulary");
}

}  // namespace
}  // namespace chargpt
