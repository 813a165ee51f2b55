#include "chargpt/engine/evaluator.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "chargpt/base/windows.hpp"

namespace chargpt {
namespace {

const Tokenizer kTokenizer({U'a', U'ö', U'漢'}, true);  // 1, 2 and 3 bytes; with the end mark 4 ids

ModelConfig small_config() {
  ModelConfig config;
  config.layers = 1;
  config.heads = 2;
  config.width = 8;
  config.context = 6;
  config.dropout = 0.5;
  return config;
}

CharGPT make_model() {
  torch::manual_seed(5);
  return CharGPT(small_config(), 4);
}

Split documents() {
  Split split;
  for (const int size : {1, 2, 7, 20, 6, 13}) {
    for (int i = 0; i < size - 1; ++i) split.ids.push_back(1 + i * i % 3);
    split.ids.push_back(0);
    split.starts.push_back(static_cast<std::int64_t>(split.ids.size()));
  }
  return split;
}

/// Each target by a forward pass of its own over what stands before it in its window.
double one_by_one(CharGPT& model, const Split& split) {
  const torch::NoGradGuard no_grad;
  double nats = 0.0;
  for (const EvalWindow& window : evaluation_windows(split, 6)) {
    for (std::int64_t i = 1; i <= window.length; ++i) {
      torch::Tensor ids = torch::empty({1, i}, torch::kLong);
      for (std::int64_t t = 0; t < i; ++t) ids[0][t] = split.ids[static_cast<std::size_t>(window.offset + t)];
      const torch::Tensor row = at::log_softmax(model->next_logits(ids).to(torch::kDouble), -1);
      nats -= row[0][split.ids[static_cast<std::size_t>(window.offset + i)]].item<double>();
    }
  }
  return nats;
}

TEST(Evaluator, SumsWhatSinglePredictionsGive) {
  CharGPT model = make_model();
  const Split split = documents();
  const Evaluation got = evaluate(model, kTokenizer, split, 4);
  EXPECT_EQ(got.characters, 49 - 6);
  EXPECT_NEAR(got.nats, one_by_one(model, split), 1e-4);
}

TEST(Evaluator, DoesNotDependOnTheBatch) {
  CharGPT model = make_model();
  const Split split = documents();
  const double truth = evaluate(model, kTokenizer, split, 1).nats_per_char();
  for (const std::int64_t batch : {2, 7, 64}) {
    EXPECT_NEAR(evaluate(model, kTokenizer, split, batch).nats_per_char(), truth, 1e-6);
  }
}

TEST(Evaluator, AUniformModelScoresTheLogarithmOfTheVocabulary) {
  CharGPT model = make_model();
  model->flat().values().detach().zero_();
  const Evaluation got = evaluate(model, kTokenizer, documents(), 4);
  EXPECT_NEAR(got.nats_per_char(), std::log(4.0), 1e-6);
  EXPECT_NEAR(got.perplexity(), 4.0, 1e-5);
  EXPECT_NEAR(got.bits_per_char(), 2.0, 1e-6);
}

TEST(Evaluator, CountsTheBytesOfWhatItScores) {
  CharGPT model = make_model();
  Split split;
  split.ids = {2, 1, 2, 3, 0};  // the first is not scored; a is 1 byte, ö 2, 漢 3, the end mark 1
  split.starts = {0, 5};
  const Evaluation got = evaluate(model, kTokenizer, split, 4);
  EXPECT_EQ(got.bytes, 1 + 2 + 3 + 1);
  EXPECT_NEAR(got.bits_per_byte() * 7, got.bits_per_char() * 4, 1e-9);
}

}  // namespace
}  // namespace chargpt
