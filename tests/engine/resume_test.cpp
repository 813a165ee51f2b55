// N steps = k steps + resume + N - k steps, bit for bit in weights, moments, metrics and progress, whatever the config.

#include "chargpt/kernels/bf16.hpp"
#include "engine/run_support.hpp"

namespace chargpt {
namespace {

/// What may be wrong with a resume, one thing in each config besides what tiny_config has.
struct Variant {
  const char* name;
  void (*change)(Config&);
};

const std::vector<Variant> kVariants = {
    {"as it is", [](Config&) {}},
    {"four passes a step", [](Config& c) { c.train.micro_batch = c.train.batch / 4; }},
    {"shuffled epochs, of which one ends in the middle",
     [](Config& c) {
       c.data.windows = WindowOrder::shuffled;
       c.data.stride = 163;  // some two dozen windows: an epoch of six steps and a bit
     }},
    {"epochs instead of steps",
     [](Config& c) {
       c.data.windows = WindowOrder::shuffled;
       c.data.stride = 163;
       c.train.steps = 0;
       c.train.epochs = 2;
     }},
    {"constant rate, default betas, no clipping, all decay",
     [](Config& c) {
       c.schedule = {};
       c.optimizer = {};
     }},
    {"a large epsilon and decay",
     [](Config& c) {
       c.optimizer.epsilon = 1e-3;
       c.optimizer.weight_decay = 0.5;
     }},
    {"warm-up as long as the run", [](Config& c) { c.schedule.warmup = 12; }},
    {"a rate that ends above zero", [](Config& c) { c.schedule.min_learning_rate = 1e-3; }},
    {"no validation", [](Config& c) { c.data.val_fraction = 0.0; }},
    {"one checkpoint kept, saved at each step",
     [](Config& c) {
       c.train.keep = 1;
       c.train.save_every = 1;
     }},
    {"bf16 products where there are any",
     [](Config& c) {
       if (!bf16_units().empty()) c.run.precision = Precision::bf16;
     }},
    {"much dropout, head by head",
     [](Config& c) {
       c.model.dropout = 0.6;
       c.model.attention = AttentionPath::heads;
     }},
    {"SGD with momentum",
     [](Config& c) {
       c.optimizer.name = OptimizerName::sgd;
       c.optimizer.momentum = 0.9;
       c.optimizer.weight_decay = 0.1;
     }},
    {"SGD without", [](Config& c) { c.optimizer.name = OptimizerName::sgd; }},
    {"an average of the weights", [](Config& c) { c.train.ema = 0.9; }},
    {"label smoothing", [](Config& c) { c.train.label_smoothing = 0.1; }},
    {"characters instead of steps",
     [](Config& c) {
       c.train.steps = 0;
       c.train.characters = 12 * 4 * 8 - 1;
     }},
    {"an end by patience, which a rate that is too high uses up",
     [](Config& c) {
       c.train.eval_every = 1;
       c.train.patience = 8;
       c.train.steps = 40;
       c.optimizer.learning_rate = 1.0;
     }},
    {"an end at a loss",
     [](Config& c) {
       c.train.eval_every = 1;
       c.train.target_loss = 2.9;
       c.train.steps = 40;
     }},
    {"tied head", [](Config& c) { c.model.tied_head = true; }},
    {"no biases, all decay",
     [](Config& c) {
       c.model.bias = false;
       c.optimizer.decay = DecayScope::all;
     }},
    {"all switches of the model, fused, two passes a step",
     [](Config& c) {
       c.model.embedding_dropout = true;
       c.model.tied_head = true;
       c.model.bias = false;
       c.model.initialization = Initialization::gpt2;
       c.model.attention = AttentionPath::fused;
       c.train.micro_batch = c.train.batch / 2;
     }},
    {"embedding dropout and GPT-2's initial weights",
     [](Config& c) {
       c.model.embedding_dropout = true;
       c.model.initialization = Initialization::gpt2;
     }},
};

class Resume : public TrainingRunTest {
 protected:
  /// Of the present config: a run in `folder`, and others beside it that are stopped after a step and resumed.
  void expect_exact(const std::string& folder) {
    corpus_ = load_corpus(config_);
    const Outcome straight = outcome(folder, run(folder));
    const std::int64_t N = trainer_->steps_done();
    ASSERT_GE(N, 5);
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, N / 2 - 1, N / 2, N / 2 + 1, N - 1, N}) {
      SCOPED_TRACE("stopped after step " + std::to_string(k) + " of " + std::to_string(N));
      const std::string stopped = folder + "-" + std::to_string(k);
      run(stopped, [&] { return trainer_->steps_done() >= k; });
      EXPECT_EQ(trainer_->steps_done(), k);
      expect_equal(outcome(stopped, run(stopped)), straight);
    }
  }
};

TEST_F(Resume, IsTheUninterruptedRunForEveryConfigAndStep) {
  const Config base = config_;
  for (std::size_t v = 0; v < kVariants.size(); ++v) {
    SCOPED_TRACE(kVariants[v].name);
    config_ = base;
    kVariants[v].change(config_);
    expect_exact(dir_ / std::to_string(v));
  }
}

TEST_F(Resume, IsTheUninterruptedRunForEverySchedule) {
  for (const std::string_view schedule : choice_names<ScheduleName>()) {
    SCOPED_TRACE(schedule);
    describe(config_).find("schedule.name")->set(std::string(schedule), "test");
    expect_exact(dir_ / std::string(schedule));
  }
}

TEST_F(Resume, ComparesWithARunThatIsTheSameEachTime) {
  expect_equal(outcome(dir_ / "a", run(dir_ / "a")), outcome(dir_ / "b", run(dir_ / "b")));
}

TEST_F(Resume, WithAnotherNumberOfThreadsIsStatedAndClose) {
  const RunResult straight = run(dir_ / "straight");
  run(dir_ / "r", [&] { return trainer_->steps_done() >= 2; });
  at::set_num_threads(2);
  Trainer trainer(config_, corpus_);
  std::vector<std::string> warnings;
  const RunPaths paths(dir_ / "r");
  const auto progress =
      restore_checkpoint(paths, trainer, [&](const std::string& message) { warnings.push_back(message); });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("\"threads\":1"), std::string::npos) << warnings[0];
  const RunResult result = run_training(trainer, paths, *progress, {});
  EXPECT_NEAR(*result.last_loss, *straight.last_loss, 1e-3);
}

}  // namespace
}  // namespace chargpt
