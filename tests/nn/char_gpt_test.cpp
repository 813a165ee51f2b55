#include "chargpt/nn/char_gpt.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "chargpt/base/config_key.hpp"
#include "support/model_switches.hpp"

namespace chargpt {
namespace {

ModelConfig small_config(AttentionPath path = AttentionPath::automatic) {
  ModelConfig config;
  config.layers = 2;
  config.heads = 3;
  config.width = 24;
  config.context = 10;
  config.attention = path;
  return config;
}

CharGPT make_model(const ModelConfig& config, const torch::TensorOptions& options = torch::kDouble) {
  torch::manual_seed(12046);
  return CharGPT(config, 11, options);
}

torch::Tensor some_ids(std::int64_t windows = 4, std::int64_t length = 10) {
  return (torch::arange(windows * length) * 7 % 11).view({windows, length});
}

/// Every path of the enum. A new one is tested by being there.
std::vector<AttentionPath> all_paths() {
  std::vector<AttentionPath> paths;
  for (std::size_t i = 0; i < choice_names<AttentionPath>().size(); ++i) paths.push_back(static_cast<AttentionPath>(i));
  return paths;
}

struct Result {
  torch::Tensor logits, gradients;
};

Result run(const ModelConfig& config, const DropoutState& dropout, const torch::TensorOptions& options) {
  CharGPT model = make_model(config, options);
  const torch::Tensor ids = some_ids();
  const torch::Tensor logits = model->forward(ids, dropout);
  at::cross_entropy_loss(logits.flatten(0, 1), ids.roll(1, 1).flatten()).backward();
  return {logits.detach(), model->flat().gradients()};
}

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a.to(torch::kDouble) - b.to(torch::kDouble)).abs().max() / b.to(torch::kDouble).abs().max()).item<double>();
}

TEST(CharGPT, AllAttentionPathsGiveTheLogitsAndGradientsOfHeads) {
  for (const ModelSwitches& switches : kModelSwitches) {
    for (const double p : {0.0, 0.4}) {
      ModelConfig config = small_config(AttentionPath::heads);
      switches.turn(config);
      const DropoutState dropout{p, 5, 17, 3};
      const Result truth = run(config, dropout, torch::kDouble);
      for (const AttentionPath path : all_paths()) {
        SCOPED_TRACE(std::string(switches.name) + ", " + std::string(name(path)) + ", dropout " + std::to_string(p));
        config.attention = path;
        const Result exact = run(config, dropout, torch::kDouble);
        EXPECT_LE(relative_difference(exact.logits, truth.logits), 1e-12);
        EXPECT_LE(relative_difference(exact.gradients, truth.gradients), 1e-12);
        const Result single = run(config, dropout, torch::kFloat);
        EXPECT_LE(relative_difference(single.logits, truth.logits), 1e-5);
        EXPECT_LE(relative_difference(single.gradients, truth.gradients), 1e-5);
      }
    }
  }
}

TEST(CharGPT, DropoutChangesTheLogitsAndDependsOnTheStep) {
  const ModelConfig config = small_config(AttentionPath::fused);
  const Result off = run(config, {}, torch::kDouble);
  const Result first = run(config, {0.4, 5, 17, 0}, torch::kDouble);
  const Result second = run(config, {0.4, 5, 18, 0}, torch::kDouble);
  EXPECT_GT(relative_difference(first.logits, off.logits), 1e-2);
  EXPECT_GT(relative_difference(second.logits, first.logits), 1e-2);
}

TEST(CharGPT, EmbeddingDropoutIsOneMoreDropoutAndNoneWithoutDropout) {
  ModelConfig config = small_config(), more = config;
  more.embedding_dropout = true;
  const DropoutState dropout{0.4, 5, 17, 0};
  EXPECT_TRUE(run(more, {}, torch::kDouble).logits.equal(run(config, {}, torch::kDouble).logits));
  EXPECT_GT(relative_difference(run(more, dropout, torch::kDouble).logits, run(config, dropout, torch::kDouble).logits),
            1e-2);
}

TEST(CharGPT, TheGradientOfATiedMatrixIsTheSumOfBothUses) {
  ModelConfig config = small_config(), tied = config;
  tied.tied_head = true;
  CharGPT one = make_model(tied), two = make_model(config);
  const torch::Tensor ids = some_ids();
  {
    const torch::NoGradGuard no_grad;
    two->lm->weight.copy_(one->token_emb->weight);
  }
  for (CharGPT model : {one, two}) {
    at::cross_entropy_loss(model->forward(ids).flatten(0, 1), ids.roll(1, 1).flatten()).backward();
  }
  const torch::Tensor wanted = two->token_emb->weight.grad() + two->lm->weight.grad();
  EXPECT_LE(relative_difference(one->token_emb->weight.grad(), wanted), 1e-12);
  EXPECT_TRUE(one->lm->weight.is_same(one->token_emb->weight));
}

TEST(CharGPT, APositionDoesNotSeeTheOnesBehindIt) {
  for (const AttentionPath path : all_paths()) {
    CharGPT model = make_model(small_config(path));
    const torch::NoGradGuard no_grad;
    const torch::Tensor ids = some_ids(1);
    const torch::Tensor before = model->forward(ids);
    for (std::int64_t t = 0; t < 10; ++t) {
      torch::Tensor changed = ids.clone();
      changed[0][t] = (changed[0][t] + 1) % 11;
      const torch::Tensor after = model->forward(changed);
      EXPECT_TRUE(after.slice(1, 0, t).equal(before.slice(1, 0, t))) << "position " << t;
      EXPECT_FALSE(after.slice(1, t, t + 1).equal(before.slice(1, t, t + 1))) << "position " << t;
    }
  }
}

void expect_finite_differences(const ModelConfig& config) {
  CharGPT model = make_model(config);
  const DropoutState dropout{0.3, 1, 2, 0};
  const torch::Tensor ids = some_ids(2);
  const auto loss = [&] {
    return at::cross_entropy_loss(model->forward(ids, dropout).flatten(0, 1), ids.roll(1, 1).flatten());
  };
  loss().backward();
  const torch::NoGradGuard no_grad;
  FlatParameters& flat = model->flat();
  for (std::int64_t i = 0; i < flat.size(); i += 97) {
    torch::Tensor value = flat.values()[i];
    const double h = 1e-5;
    value += h;
    const double above = loss().item<double>();
    value -= 2 * h;
    const double below = loss().item<double>();
    value += h;
    EXPECT_NEAR(flat.gradients()[i].item<double>(), (above - below) / (2 * h), 1e-8) << "element " << i;
  }
}

TEST(CharGPT, GradientsAreThoseOfFiniteDifferences) {
  for (const ModelSwitches& switches : kModelSwitches) {
    SCOPED_TRACE(switches.name);
    ModelConfig config = small_config(AttentionPath::fused);
    switches.turn(config);
    expect_finite_differences(config);
  }
}

TEST(CharGPT, SplittingTheBatchKeepsLogitsAndMasks) {
  for (const AttentionPath path : all_paths()) {
    CharGPT model = make_model(small_config(path));
    const torch::NoGradGuard no_grad;
    const torch::Tensor ids = some_ids(4);
    const torch::Tensor whole = model->forward(ids, {0.4, 1, 2, 0});
    const torch::Tensor tail = model->forward(ids.slice(0, 1), {0.4, 1, 2, 1});
    EXPECT_LE(relative_difference(tail, whole.slice(0, 1)), 1e-12);
  }
}

TEST(CharGPT, NextLogitsAreThoseOfTheLastPosition) {
  CharGPT model = make_model(small_config());
  const torch::NoGradGuard no_grad;
  for (const std::int64_t length : {1, 4, 10}) {
    const torch::Tensor ids = some_ids(3, length);
    EXPECT_LE(relative_difference(model->next_logits(ids), model->forward(ids).select(1, length - 1)), 1e-12);
  }
}

TEST(CharGPT, HasTheLecturesNamesShapesAndParameterCount) {
  ModelConfig lecture;
  lecture.layers = 12;
  lecture.heads = 16;
  CharGPT model(lecture, 98);
  EXPECT_EQ(model->flat().size(), 2'408'290);
  const auto parameters = model->named_parameters();
  EXPECT_EQ(parameters["token_emb.weight"].sizes(), (torch::IntArrayRef{98, 128}));
  EXPECT_EQ(parameters["blocks.11.mha.heads.15.key.weight"].sizes(), (torch::IntArrayRef{8, 128}));
  EXPECT_EQ(parameters["blocks.0.ff.ln1.weight"].sizes(), (torch::IntArrayRef{512, 128}));
  EXPECT_EQ(parameters["lm.bias"].sizes(), (torch::IntArrayRef{98}));
  EXPECT_EQ(model->named_buffers()["blocks.3.mha.heads.2.tril"].sizes(), (torch::IntArrayRef{64, 64}));
}

TEST(CharGPT, InitialWeightsOfGpt2HaveItsDeviations) {
  ModelConfig config = small_config();
  config.layers = 8;
  config.width = 96;
  config.initialization = Initialization::gpt2;
  for (const auto& parameter : make_model(config)->named_parameters()) {
    const torch::Tensor values = parameter.value().detach();
    const std::string& name = parameter.key();
    if (name.ends_with("bias")) {
      EXPECT_EQ(values.abs().max().item<double>(), 0.0) << name;
    } else if (values.dim() == 1) {
      EXPECT_TRUE(values.eq(1.0).all().item<bool>()) << name;
    } else {
      const double wanted = name.ends_with("proj.weight") || name.ends_with("ln2.weight") ? 0.005 : 0.02;
      const double error = wanted / std::sqrt(2.0 * static_cast<double>(values.numel()));  // of a deviation measured
      EXPECT_NEAR(values.std().item<double>(), wanted, 5 * error) << name;
      EXPECT_NEAR(values.mean().item<double>(), 0.0, 7 * error) << name;
    }
  }
}

TEST(CharGPT, InitialWeightsDependOnTheSeedAlone) {
  const torch::Tensor heads = make_model(small_config(AttentionPath::heads))->flat().values();
  const torch::Tensor fused = make_model(small_config(AttentionPath::fused), torch::kFloat)->flat().values();
  EXPECT_TRUE(heads.equal(fused.to(torch::kDouble)));
}

}  // namespace
}  // namespace chargpt
