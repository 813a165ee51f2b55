#include "chargpt/engine/explanation.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <map>

namespace chargpt {
namespace {

const std::vector<std::int32_t> kIds = {3, 1, 4, 1, 5, 9, 2};
constexpr std::int64_t T = 7, C = 24, H = 3, D = 8, V = 11;

class ExplanationTest : public testing::Test {
 protected:
  static CharGPT make_model() {
    torch::manual_seed(2);
    ModelConfig config;
    config.layers = 3;
    config.heads = H;
    config.width = C;
    config.context = 9;
    CharGPT model(config, V);
    model->flat().values().detach().mul_(3.0);  // weights that make the heads differ from an average
    return model;
  }

  CharGPT model_ = make_model();
};

TEST_F(ExplanationTest, EndsWithTheModelsOwnPrediction) {
  const torch::NoGradGuard no_grad;
  torch::Tensor ids = torch::empty({1, T}, torch::kLong);
  for (std::int64_t t = 0; t < T; ++t) ids[0][t] = kIds[static_cast<std::size_t>(t)];
  const torch::Tensor wanted = at::softmax(model_->next_logits(ids)[0].to(torch::kDouble), -1);
  for (std::int64_t block = 0; block < 3; ++block) {
    EXPECT_TRUE(at::allclose(explain(model_, kIds, block).next, wanted, 1e-5, 1e-6)) << block;
  }
}

TEST_F(ExplanationTest, TheMaskHidesWhatComesLaterAndRowsSumToOne) {
  const Explanation e = explain(model_, kIds, 1);
  for (std::int64_t h = 0; h < H; ++h) {
    for (std::int64_t i = 0; i < T; ++i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < T; ++j) {
        const double weight = e.weights[h][i][j].item<double>(), masked = e.masked[h][i][j].item<double>();
        sum += weight;
        EXPECT_EQ(weight == 0.0, j > i);
        EXPECT_EQ(std::isinf(masked), j > i);
        EXPECT_TRUE(j > i || masked == e.scores[h][i][j].item<double>());
      }
      EXPECT_NEAR(sum, 1.0, 1e-6);
    }
  }
}

TEST_F(ExplanationTest, ScoresAreTheProductsByTheRootOfTheHeadSize) {
  const Explanation e = explain(model_, kIds, 0);
  EXPECT_TRUE(at::allclose(e.scores * std::sqrt(static_cast<double>(D)), e.products, 1e-5, 1e-6));
  for (const HeadStatistics& head : e.heads) {
    EXPECT_NEAR(head.score_variance * D, head.product_variance, 1e-5 * head.product_variance);
  }
}

TEST_F(ExplanationTest, StatisticsAreThoseOfTheVisiblePairs) {
  const Explanation e = explain(model_, kIds, 2);
  for (std::int64_t h = 0; h < H; ++h) {
    double sum = 0.0, squares = 0.0, largest = 0.0, largest_unscaled = 0.0;
    for (std::int64_t i = 0; i < T; ++i) {
      double top = 0.0, total = 0.0, top_exp = 0.0;
      for (std::int64_t j = 0; j <= i; ++j) {
        const double product = e.products[h][i][j].item<double>();
        sum += product;
        squares += product * product;
        top = std::max(top, e.weights[h][i][j].item<double>());
        total += std::exp(product);
        top_exp = std::max(top_exp, std::exp(product));
      }
      if (i > 0) largest += top / (T - 1);
      if (i > 0) largest_unscaled += top_exp / total / (T - 1);
    }
    constexpr double kPairs = T * (T + 1) / 2.0;
    const HeadStatistics& got = e.heads[static_cast<std::size_t>(h)];
    EXPECT_NEAR(got.product_variance, squares / kPairs - sum * sum / kPairs / kPairs, 1e-6);
    EXPECT_NEAR(got.largest, largest, 1e-6);
    EXPECT_NEAR(got.largest_unscaled, largest_unscaled, 1e-6);
  }
}

TEST_F(ExplanationTest, ShapesAreTheLecturesOnes) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const NamedShape& row : explain(model_, kIds, 1).shapes) shapes[row.name] = row.shape;
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shapes.at("ids"), (Shape{1, T}));
  EXPECT_EQ(shapes.at("token_emb(ids)"), (Shape{1, T, C}));
  EXPECT_EQ(shapes.at("pos_emb(0 .. T - 1)"), (Shape{T, C}));
  EXPECT_EQ(shapes.at("blocks.1.mha.heads.0.query(l1(x)): q"), (Shape{1, T, D}));
  EXPECT_EQ(shapes.at("blocks.1.mha.heads.0: softmax(masked q @ k.T / sqrt(D))"), (Shape{1, T, T}));
  EXPECT_EQ(shapes.at("blocks.1.cat of the 3 heads"), (Shape{1, T, C}));
  EXPECT_EQ(shapes.at("blocks.1.ff.ln1, then GELU"), (Shape{1, T, 4 * C}));
  EXPECT_EQ(shapes.at("lm(l(x)): logits"), (Shape{1, T, V}));
}

TEST_F(ExplanationTest, OnePositionHasNoLargestWeightToSpeakOf) {
  const std::vector<std::int32_t> one = {3};
  const Explanation e = explain(model_, one, 0);
  EXPECT_EQ(e.weights.numel(), H);
  EXPECT_TRUE(std::isnan(e.heads[0].largest));
  EXPECT_EQ(e.heads[0].product_variance, 0.0);
}

}  // namespace
}  // namespace chargpt
