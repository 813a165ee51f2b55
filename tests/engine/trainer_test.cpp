#include "chargpt/engine/trainer.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <limits>

#include "chargpt/base/error.hpp"
#include "engine/support.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

class TrainerTest : public testing::Test {
 protected:
  TempDir dir_;
  Config config_ = tiny_config(dir_);
  Corpus corpus_ = load_corpus(config_);
};

TEST_F(TrainerTest, LowersTheLoss) {
  config_.train.steps = 60;
  config_.model.dropout = 0.0;
  Trainer trainer(config_, corpus_);
  const double first = trainer.step()->loss;
  double last = first;
  while (trainer.steps_done() < trainer.total_steps()) last = trainer.step()->loss;
  EXPECT_LT(last, first - 0.5);
}

TEST_F(TrainerTest, MicroBatchesGiveTheLossAndUpdateOfTheWholeBatch) {
  Trainer whole(config_, corpus_);
  for (const std::int64_t micro_batch : {1, 2, 3}) {
    config_.train.micro_batch = micro_batch;
    Trainer split(config_, corpus_);
    Trainer reference(whole.config(), corpus_);
    for (int step = 0; step < 3; ++step) {
      const auto a = reference.step(), b = split.step();
      EXPECT_NEAR(a->loss, b->loss, 1e-6);
      EXPECT_NEAR(a->gradient_norm, b->gradient_norm, 1e-5 * a->gradient_norm);
    }
    EXPECT_TRUE(reference.model()->flat().values().allclose(split.model()->flat().values(), 1e-3, 1e-4));
  }
}

TEST_F(TrainerTest, MicroBatchesGiveTheGradientOfTheWholeBatchWithSmoothingToo) {
  config_.train.label_smoothing = 0.1;
  config_.optimizer.name = OptimizerName::sgd;  // whose first step is the gradient
  config_.optimizer.learning_rate = 1e3;        // so that the rounding of the weights does not show
  config_.optimizer.weight_decay = 0.0;
  config_.optimizer.clip = 0.0;
  const torch::Tensor before = Trainer(config_, corpus_).model()->flat().values().clone();
  Trainer whole(config_, corpus_);
  const double loss = whole.step()->loss;
  const torch::Tensor step = whole.model()->flat().values() - before;
  for (const std::int64_t micro_batch : {1, 2, 3}) {
    config_.train.micro_batch = micro_batch;
    Trainer split(config_, corpus_);
    EXPECT_NEAR(split.step()->loss, loss, 1e-5);
    const torch::Tensor other = split.model()->flat().values() - before;
    EXPECT_LE((other - step).abs().max().item<double>(), 1e-5 * step.abs().max().item<double>());
  }
}

TEST_F(TrainerTest, TheLoggedLossIsTheSmoothedOneAndTheWeightsLearnFromIt) {
  Trainer plain(config_, corpus_);
  config_.train.label_smoothing = 0.3;
  Trainer smoothed(config_, corpus_);
  EXPECT_NE(plain.step()->loss, smoothed.step()->loss);
  EXPECT_FALSE(plain.model()->flat().values().equal(smoothed.model()->flat().values()));
}

TEST_F(TrainerTest, RefusesAScheduleThatDoesNotFitIntoItsEpochs) {
  config_.train.steps = 0;
  config_.train.epochs = 1;
  config_.schedule.warmup = 1000000;
  expect_error(ExitCode::usage, {"schedule.warmup = 1000000", "the run of"}, [&] { Trainer(config_, corpus_); });
}

TEST_F(TrainerTest, ANormThatIsNoNumberHasNoSign) {
  Trainer trainer(config_, corpus_);
  const torch::NoGradGuard no_grad;
  trainer.model()->flat().values().fill_(-std::numeric_limits<float>::quiet_NaN());
  expect_error(ExitCode::diverged, {"loss nan, gradient norm nan"}, [&] { trainer.step(); });
}

TEST_F(TrainerTest, EqualSeedsGiveEqualRunsAndOthersDoNot) {
  Trainer a(config_, corpus_), b(config_, corpus_);
  config_.run.seed = 2;
  Trainer c(config_, corpus_);
  for (int step = 0; step < 3; ++step) a.step(), b.step(), c.step();
  EXPECT_TRUE(a.model()->flat().values().equal(b.model()->flat().values()));
  EXPECT_FALSE(a.model()->flat().values().equal(c.model()->flat().values()));
}

TEST_F(TrainerTest, AStopDropsTheStepAndItIsRepeatedIdentically) {
  config_.train.micro_batch = 1;
  Trainer straight(config_, corpus_), stopped(config_, corpus_);
  int asked = 0;
  EXPECT_FALSE(stopped.step([&] { return ++asked == 3; }));
  EXPECT_EQ(stopped.steps_done(), 0);
  EXPECT_EQ(straight.step()->loss, stopped.step()->loss);
  EXPECT_TRUE(straight.model()->flat().values().equal(stopped.model()->flat().values()));
}

TEST_F(TrainerTest, StopsAtALossThatIsNotFiniteAndKeepsTheWeights) {
  Trainer trainer(config_, corpus_);
  torch::Tensor values = trainer.model()->flat().values();
  values.detach().fill_(std::numeric_limits<float>::max());
  const torch::Tensor before = values.clone();
  try {
    trainer.step();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::diverged);
    EXPECT_NE(std::string(error.what()).find("step 1"), std::string::npos);
  }
  EXPECT_TRUE(values.equal(before));
  EXPECT_EQ(trainer.steps_done(), 0);
}

}  // namespace
}  // namespace chargpt
