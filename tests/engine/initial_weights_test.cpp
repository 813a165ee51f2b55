#include "chargpt/engine/initial_weights.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "chargpt/engine/model_file.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

const Tokenizer kOurs({U'b', U'c', U'd', U'é'}, true);  // ids: end mark, b, c, d, é

ModelConfig small_config() {
  ModelConfig config;
  config.layers = 1;
  config.heads = 2;
  config.width = 8;
  config.context = 4;
  return config;
}

CharGPT make_model(std::int64_t vocabulary, std::uint64_t seed) {
  torch::manual_seed(seed);
  return CharGPT(small_config(), vocabulary);
}

class InitialWeightsTest : public testing::Test {
 protected:
  /// The model as a file without any metadata, as Python saves it.
  std::string write_bare(CharGPT& model) {
    write_safetensors(dir_ / "bare", parameter_views(model->flat().layout(), numbers(model->flat().values())), {});
    return dir_ / "bare";
  }

  TempDir dir_;
  CharGPT model_ = make_model(5, 1);
};

TEST_F(InitialWeightsTest, WithTheSameVocabularyAreTheFiles) {
  CharGPT source = make_model(5, 2);
  save_model(dir_ / "m", source, kOurs);
  const InitialWeights got = load_initial_weights(dir_ / "m", model_, kOurs);
  EXPECT_TRUE(model_->flat().values().equal(source->flat().values()));
  EXPECT_TRUE(got.verified);
  EXPECT_TRUE(got.has_vocabulary);
  EXPECT_EQ(got.taken, 5);
  EXPECT_EQ(got.fresh, 0);
  EXPECT_EQ(got.left_out, 0);
}

TEST_F(InitialWeightsTest, RowsFollowTheirCharactersAndNewOnesStayFresh) {
  const Tokenizer theirs({U'a', U'c', U'é'}, true);  // ids: end mark, a, c, é
  CharGPT source = make_model(4, 2), fresh = make_model(5, 1);
  save_model(dir_ / "m", source, theirs);
  const InitialWeights got = load_initial_weights(dir_ / "m", model_, kOurs);
  EXPECT_EQ(got.taken, 3);
  EXPECT_EQ(got.fresh, 2);
  EXPECT_EQ(got.left_out, 1);
  const std::vector<std::int64_t> row_of = {0, -1, 2, -1, 3};
  for (std::int64_t id = 0; id < 5; ++id) {
    CharGPT& from = row_of[static_cast<std::size_t>(id)] < 0 ? fresh : source;
    const std::int64_t row = &from == &fresh ? id : row_of[static_cast<std::size_t>(id)];
    EXPECT_TRUE(model_->token_emb->weight[id].equal(from->token_emb->weight[row])) << "id " << id;
    EXPECT_TRUE(model_->lm->weight[id].equal(from->lm->weight[row])) << "id " << id;
    EXPECT_TRUE(model_->lm->bias[id].equal(from->lm->bias[row])) << "id " << id;
  }
  EXPECT_TRUE(model_->pos_emb->weight.equal(source->pos_emb->weight));
}

TEST_F(InitialWeightsTest, WithoutAVocabularyRowsAreTakenInOrder) {
  CharGPT source = make_model(5, 2);
  const InitialWeights got = load_initial_weights(write_bare(source), model_, kOurs);
  EXPECT_TRUE(model_->flat().values().equal(source->flat().values()));
  EXPECT_FALSE(got.has_vocabulary);
}

TEST_F(InitialWeightsTest, WithoutAVocabularyAnotherNumberOfRowsIsRefused) {
  CharGPT source = make_model(6, 2);
  expect_error(ExitCode::unusable_model, {"bare", "token_emb.weight", "[6, 8]", "vocabulary 5"},
               [&] { load_initial_weights(write_bare(source), model_, kOurs); });
}

TEST_F(InitialWeightsTest, AnErrorLeavesTheModelAsItWas) {
  const torch::Tensor before = model_->flat().values().clone();
  CharGPT source = make_model(5, 2);
  auto views = parameter_views(source->flat().layout(), numbers(source->flat().values()));
  views.pop_back();
  write_safetensors(dir_ / "m", views, {});
  expect_error(ExitCode::unusable_model, {"missing"}, [&] { load_initial_weights(dir_ / "m", model_, kOurs); });
  expect_error(ExitCode::no_input, {"nowhere"}, [&] { load_initial_weights(dir_ / "nowhere", model_, kOurs); });
  EXPECT_TRUE(model_->flat().values().equal(before));
}

TEST_F(InitialWeightsTest, AVocabularyOfAnotherSizeThanTheWeightsIsRefused) {
  CharGPT source = make_model(5, 2);
  write_safetensors(dir_ / "m", parameter_views(source->flat().layout(), numbers(source->flat().values())),
                    {{"vocabulary", R"(["a", "b", "c"])"}});
  expect_error(ExitCode::unusable_model, {"token_emb.weight", "vocabulary 3"},
               [&] { load_initial_weights(dir_ / "m", model_, kOurs); });
}

}  // namespace
}  // namespace chargpt
