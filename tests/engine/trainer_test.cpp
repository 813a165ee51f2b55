#include "chargpt/engine/trainer.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <limits>

#include "chargpt/base/error.hpp"
#include "engine/support.hpp"

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
