#include "chargpt/engine/weight_average.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "chargpt/engine/model_file.hpp"
#include "engine/run_support.hpp"

namespace chargpt {
namespace {

class WeightAverageTest : public TrainingRunTest {
 protected:
  WeightAverageTest() { config_.train.ema = 0.6; }
};

TEST_F(WeightAverageTest, FollowsTheRecurrenceStepByStep) {
  Trainer trainer(config_, corpus_);
  torch::Tensor wanted;
  for (int t = 1; t <= 30; ++t) {
    trainer.step();
    const torch::Tensor weights = trainer.model()->flat().values().to(torch::kDouble);
    const double decay = std::min(0.6, (t - 1.0) / (t + 9.0));  // grows to 0.6 at step 17
    wanted = t == 1 ? weights.clone() : decay * wanted + (1 - decay) * weights;
  }
  EXPECT_TRUE(trainer.average()->values().to(torch::kDouble).allclose(wanted, 1e-5, 1e-6));
}

TEST_F(WeightAverageTest, NeverChangesTheTraining) {
  Trainer with(config_, corpus_);
  config_.train.ema = 0.0;
  Trainer without(config_, corpus_);
  for (int step = 0; step < 3; ++step) with.step(), without.step();
  EXPECT_TRUE(with.model()->flat().values().equal(without.model()->flat().values()));
  EXPECT_FALSE(without.average());
}

TEST_F(WeightAverageTest, ChangesPlacesWithTheWeightsAndBack) {
  Trainer trainer(config_, corpus_);
  for (int step = 0; step < 3; ++step) trainer.step();
  const torch::Tensor& weights = trainer.model()->flat().values();
  const torch::Tensor raw = weights.clone(), average = trainer.average()->values().clone();
  {
    const EvaluationWeights evaluated(trainer);
    EXPECT_TRUE(weights.equal(average));
  }
  EXPECT_TRUE(weights.equal(raw));
  EXPECT_TRUE(trainer.average()->values().equal(average));
}

/// The logged validation loss is the one of the file that `sample` and `eval` take.
TEST_F(WeightAverageTest, IsWhatIsEvaluatedAndSavedBesideTheWeights) {
  const RunResult result = run(dir_ / "r");
  const std::string folder = RunPaths(dir_ / "r").checkpoint(12);
  const auto loss_of = [&](const std::string& file) {
    LoadedModel loaded = load_model(ModelFile(folder + "/" + file));
    Passes passes(loaded.model);
    const EvaluationWindows windows(corpus_.val, config_.model.context, config_.eval, 1, 12);
    return evaluate(passes, corpus_.tokenizer, corpus_.val, windows, 64).nats_per_char();
  };
  EXPECT_EQ(loss_of(kAverageFileName), *result.last_loss);
  EXPECT_NE(loss_of(kModelFileName), *result.last_loss);
}

TEST_F(WeightAverageTest, BeginsWithTheWeightsThatARunBeginsWith) {
  Trainer trainer(config_, corpus_);
  const torch::Tensor others = torch::randn({trainer.model()->flat().size()});
  trainer.set_weights(others);
  EXPECT_TRUE(trainer.model()->flat().values().equal(others));
  EXPECT_TRUE(trainer.average()->values().equal(others));
}

}  // namespace
}  // namespace chargpt
