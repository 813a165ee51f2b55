#include "chargpt/nn/char_gpt.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "chargpt/base/config_key.hpp"

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

Result run(AttentionPath path, const DropoutState& dropout, const torch::TensorOptions& options) {
  CharGPT model = make_model(small_config(path), options);
  const torch::Tensor ids = some_ids();
  const torch::Tensor logits = model->forward(ids, dropout);
  at::cross_entropy_loss(logits.flatten(0, 1), ids.roll(1, 1).flatten()).backward();
  return {logits.detach(), model->flat().gradients()};
}

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a.to(torch::kDouble) - b.to(torch::kDouble)).abs().max() / b.to(torch::kDouble).abs().max()).item<double>();
}

TEST(CharGPT, AllAttentionPathsGiveTheLogitsAndGradientsOfHeads) {
  for (const double p : {0.0, 0.4}) {
    const DropoutState dropout{p, 5, 17, 3};
    const Result truth = run(AttentionPath::heads, dropout, torch::kDouble);
    for (const AttentionPath path : all_paths()) {
      SCOPED_TRACE(std::string(name(path)) + ", dropout " + std::to_string(p));
      const Result exact = run(path, dropout, torch::kDouble);
      EXPECT_LE(relative_difference(exact.logits, truth.logits), 1e-12);
      EXPECT_LE(relative_difference(exact.gradients, truth.gradients), 1e-12);
      const Result single = run(path, dropout, torch::kFloat);
      EXPECT_LE(relative_difference(single.logits, truth.logits), 1e-5);
      EXPECT_LE(relative_difference(single.gradients, truth.gradients), 1e-5);
    }
  }
}

TEST(CharGPT, DropoutChangesTheLogitsAndDependsOnTheStep) {
  const Result off = run(AttentionPath::fused, {}, torch::kDouble);
  const Result first = run(AttentionPath::fused, {0.4, 5, 17, 0}, torch::kDouble);
  const Result second = run(AttentionPath::fused, {0.4, 5, 18, 0}, torch::kDouble);
  EXPECT_GT(relative_difference(first.logits, off.logits), 1e-2);
  EXPECT_GT(relative_difference(second.logits, first.logits), 1e-2);
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

TEST(CharGPT, GradientsAreThoseOfFiniteDifferences) {
  CharGPT model = make_model(small_config(AttentionPath::fused));
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

TEST(CharGPT, InitialWeightsDependOnTheSeedAlone) {
  const torch::Tensor heads = make_model(small_config(AttentionPath::heads))->flat().values();
  const torch::Tensor fused = make_model(small_config(AttentionPath::fused), torch::kFloat)->flat().values();
  EXPECT_TRUE(heads.equal(fused.to(torch::kDouble)));
}

}  // namespace
}  // namespace chargpt
