#include "chargpt/engine/evaluator.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "chargpt/base/windows.hpp"

namespace chargpt {
namespace {

const Tokenizer kTokenizer({U'a', U'ö', U'漢'}, true);  // 1, 2 and 3 bytes; with the end mark 4 ids

constexpr std::int64_t kContext = 6;

ModelConfig small_config() {
  ModelConfig config;
  config.layers = 1;
  config.heads = 2;
  config.width = 8;
  config.context = kContext;
  config.dropout = 0.5;
  return config;
}

CharGPT make_model() {
  torch::manual_seed(5);
  return CharGPT(small_config(), 4);
}

Split documents() {
  std::vector<std::int32_t> ids;
  Offsets documents;
  for (const int size : {1, 2, 7, 20, 6, 13}) {
    for (int i = 0; i < size - 1; ++i) ids.push_back(1 + i * i % 3);
    ids.push_back(0);
    documents.add(size);
  }
  return {ids, documents};
}

EvalConfig mode(EvalMode eval_mode, std::int64_t stride = 0) {
  EvalConfig config;
  config.mode = eval_mode;
  config.stride = stride;
  return config;
}

EvaluationWindows windows_of(const Split& split, const EvalConfig& config = {}) {
  return {split, kContext, config, 1, 0};
}

std::int32_t id_at(const Split& split, std::int64_t index) { return split.ids(index, index + 1)[0]; }

/// -ln p(ids[index]) by a forward pass of its own over the ids from `begin` on.
double nats_alone(CharGPT& model, const Split& split, std::int64_t begin, std::int64_t index) {
  const torch::NoGradGuard no_grad;
  torch::Tensor ids = torch::empty({1, index - begin}, torch::kLong);
  for (std::int64_t t = begin; t < index; ++t) ids[0][t - begin] = id_at(split, t);
  const torch::Tensor row = at::log_softmax(model->next_logits(ids).to(torch::kDouble), -1);
  return -row[0][id_at(split, index)].item<double>();
}

TEST(Evaluator, SumsWhatSinglePredictionsGive) {
  CharGPT model = make_model();
  Passes passes(model);
  const Split split = documents();
  double nats = 0.0;
  const EvaluationWindows windows = windows_of(split);
  for (std::int64_t w = 0; w < windows.size(); ++w) {
    const EvalWindow window = windows[w];
    for (std::int64_t i = 1; i <= window.length; ++i)
      nats += nats_alone(model, split, window.offset, window.offset + i);
  }
  const Evaluation got = evaluate(passes, kTokenizer, split, windows_of(split), 4);
  EXPECT_EQ(got.characters, 49 - 6);
  EXPECT_NEAR(got.nats, nats, 1e-4);
}

/// Every id but a document's first from the last `context` ids of its document.
TEST(Evaluator, SlidingByOneIsTheBruteForce) {
  CharGPT model = make_model();
  Passes passes(model);
  const Split split = documents();
  double nats = 0.0;
  for (std::int64_t d = 0; d < split.documents(); ++d) {
    for (std::int64_t i = split.start(d) + 1; i < split.start(d + 1); ++i) {
      nats += nats_alone(model, split, std::max(split.start(d), i - kContext), i);
    }
  }
  const Evaluation got = evaluate(passes, kTokenizer, split, windows_of(split, mode(EvalMode::sliding, 1)), 4);
  EXPECT_EQ(got.characters, 49 - 6);
  EXPECT_NEAR(got.nats, nats, 1e-4);
}

// The known mistakes of strided perplexity: an average of windows' averages weighs the short last window wrongly; a
// shift by one predicts an id from itself or leaves one out; overlapping parts are counted twice.
TEST(Evaluator, SlidingWeighsEveryCharacterAlikeAndCountsItOnce) {
  CharGPT model = make_model();
  Passes passes(model);
  const Split split = documents();
  for (const std::int64_t stride : {2, 4, 5, 6}) {
    double nats = 0.0;
    for (std::int64_t d = 0; d < split.documents(); ++d) {
      const std::int64_t first = split.start(d), last = split.start(d + 1) - 1;
      for (std::int64_t i = first + 1; i <= last; ++i) {
        std::int64_t end = std::min(first + kContext, last);  // of the first window that reaches i
        while (end < i) end = std::min(end + stride, last);
        nats += nats_alone(model, split, std::max(first, end - kContext), i);
      }
    }
    const Evaluation got = evaluate(passes, kTokenizer, split, windows_of(split, mode(EvalMode::sliding, stride)), 4);
    EXPECT_EQ(got.characters, 49 - 6) << stride;
    EXPECT_NEAR(got.nats, nats, 1e-4) << stride;
  }
}

TEST(Evaluator, DoesNotDependOnTheBatch) {
  CharGPT model = make_model();
  Passes passes(model);
  const Split split = documents();
  for (const EvalMode eval_mode : {EvalMode::windows, EvalMode::sliding, EvalMode::random}) {
    EvalConfig config = mode(eval_mode);
    config.windows = 30;
    const auto windows = windows_of(split, config);
    const Evaluation truth = evaluate(passes, kTokenizer, split, windows, 1);
    for (const std::int64_t batch : {2, 7, 64}) {
      const Evaluation got = evaluate(passes, kTokenizer, split, windows, batch);
      EXPECT_NEAR(got.nats_per_char(), truth.nats_per_char(), 1e-6);
      EXPECT_NEAR(got.standard_error(), truth.standard_error(), 1e-6);
    }
  }
}

TEST(Evaluator, AUniformModelScoresTheLogarithmOfTheVocabulary) {
  CharGPT model = make_model();
  Passes passes(model);
  model->flat().values().detach().zero_();
  for (const EvalConfig& config : {mode(EvalMode::windows), mode(EvalMode::windows, 1), mode(EvalMode::sliding),
                                   mode(EvalMode::sliding, 1), mode(EvalMode::random)}) {
    const Evaluation got = evaluate(passes, kTokenizer, documents(), windows_of(documents(), config), 64);
    EXPECT_NEAR(got.nats_per_char(), std::log(4.0), 1e-6);
    EXPECT_NEAR(got.perplexity(), 4.0, 1e-5);
    EXPECT_NEAR(got.bits_per_char(), 2.0, 1e-6);
    EXPECT_NEAR(got.standard_error(), 0.0, 1e-6);
  }
}

TEST(Evaluator, CountsTheBytesOfWhatItScores) {
  CharGPT model = make_model();
  Passes passes(model);
  const Split split({2, 1, 2, 3, 0}, {5});  // the first is not scored; a is 1 byte, ö 2, 漢 3, the end mark 1
  const Evaluation got = evaluate(passes, kTokenizer, split, windows_of(split), 4);
  EXPECT_EQ(got.bytes, 1 + 2 + 3 + 1);
  EXPECT_NEAR(got.bits_per_byte() * 7, got.bits_per_char() * 4, 1e-9);
}

TEST(Evaluator, RandomEstimatesTheMeanOfAllWindowsWithinItsError) {
  CharGPT model = make_model();
  Passes passes(model);
  const Split split = documents();
  const Evaluation all = evaluate(passes, kTokenizer, split, windows_of(split, mode(EvalMode::windows, 1)), 64);
  EvalConfig config = mode(EvalMode::random);
  config.windows = 4000;
  const Evaluation estimate = evaluate(passes, kTokenizer, split, windows_of(split, config), 500);
  EXPECT_GT(estimate.standard_error(), 0.0);
  EXPECT_NEAR(estimate.nats_per_char(), all.nats_per_char(), 4 * estimate.standard_error());
  config.windows = 1000;  // a quarter of the windows, twice the error
  const Evaluation coarse = evaluate(passes, kTokenizer, split, windows_of(split, config), 500);
  EXPECT_NEAR(coarse.standard_error() / estimate.standard_error(), 2.0, 0.2);
}

TEST(Evaluator, TheStandardErrorIsThatOfTheWindowsMeans) {
  Evaluation evaluation;
  for (const double mean : {1.0, 2.0, 4.0}) {  // variance 7 / 3 with n - 1
    evaluation.nats += 5 * mean;
    evaluation.characters += 5;
    evaluation.squared_means += mean * mean;
    ++evaluation.windows;
  }
  EXPECT_NEAR(evaluation.standard_error(), std::sqrt(7.0 / 3 / 3), 1e-12);
}

TEST(Evaluator, TellsOfEveryScoredCharacterWithRankAndEntropy) {
  CharGPT model = make_model();
  Passes passes(model);
  const Split split = documents();
  const auto windows = windows_of(split, mode(EvalMode::sliding, 2));
  std::vector<CharScore> scores;
  const Evaluation total =
      evaluate(passes, kTokenizer, split, windows, 3, {}, [&](const CharScore& score) { scores.push_back(score); });
  ASSERT_EQ(static_cast<std::int64_t>(scores.size()), total.characters);
  const torch::NoGradGuard no_grad;
  auto score = scores.begin();
  double nats = 0.0;
  for (std::int64_t w = 0; w < windows.size(); ++w) {
    const EvalWindow window = windows[w];
    for (std::int64_t i = window.length - window.scored; i < window.length; ++i, ++score) {
      const std::int64_t index = window.offset + 1 + i;
      torch::Tensor ids = torch::empty({1, index - window.offset}, torch::kLong);
      for (std::int64_t t = 0; t <= i; ++t) ids[0][t] = id_at(split, window.offset + t);
      const torch::Tensor p = at::softmax(model->next_logits(ids).to(torch::kDouble), -1)[0];
      const double p_target = p[id_at(split, index)].item<double>();
      std::int64_t likelier = 0;
      double entropy = 0.0;
      for (std::int64_t v = 0; v < 4; ++v) {
        const double p_v = p[v].item<double>();
        likelier += p_v > p_target ? 1 : 0;
        entropy -= p_v * std::log(p_v);
      }
      EXPECT_EQ(score->index, index);
      EXPECT_EQ(score->id, id_at(split, index));
      EXPECT_NEAR(score->nats, -std::log(p_target), 1e-5);
      EXPECT_EQ(score->rank, likelier + 1);
      EXPECT_NEAR(score->entropy, entropy, 1e-5);
      nats += score->nats;
    }
  }
  EXPECT_NEAR(nats, total.nats, 1e-9);
}

}  // namespace
}  // namespace chargpt
