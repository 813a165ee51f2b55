#include "chargpt/base/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "chargpt/base/config_loader.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

/// The message with which the rules refuse the defaults after `change`.
std::string refusal(const std::function<void(Config&)>& change) {
  Config config;
  change(config);
  try {
    check_rules(config);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

void accept(const std::function<void(Config&)>& change) {
  Config config;
  change(config);
  EXPECT_NO_THROW(check_rules(config));
}

template <class E>
void expect_names(const std::vector<std::string_view>& expected) {
  EXPECT_EQ(choice_names<E>(), expected);
}

TEST(Config, EveryEnumHasItsNamesInOrder) {
  expect_names<DataFormat>({"auto", "text", "lines", "jsonl", "bytes"});
  expect_names<SplitMethod>({"auto", "contiguous", "document", "hashed"});
  expect_names<WindowOrder>({"random", "shuffled"});
  expect_names<AttentionPath>({"auto", "heads", "fused", "native"});
  expect_names<Precision>({"fp32", "bf16"});
  expect_names<DecayScope>({"all", "matrices"});
  expect_names<ScheduleName>({"constant", "linear", "cosine", "step", "inverse_sqrt", "wsd"});
  expect_names<OptimizerName>({"adamw", "sgd"});
  expect_names<Initialization>({"pytorch", "gpt2"});
}

TEST(Config, EveryNameOfAChoiceCanBeSetAndIsGotBack) {
  Config config;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) {
    const auto* choice = std::get_if<Choice>(&key.value);
    if (choice == nullptr) continue;
    for (const std::string_view name : choice->names) {
      key.set(std::string(name), "test");
      EXPECT_EQ(key.get(), Json(std::string(name))) << key.name;
    }
  }
}

TEST(Config, KeysAreUniqueAndEachHasAHelpOfOneSentence) {
  Config config;
  std::set<std::string> names;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_TRUE(key.help.ends_with(".")) << key.name;
    EXPECT_EQ(std::count(key.help.begin(), key.help.end(), '|'), 0) << key.name << ": a bar would end the table's cell";
  }
  EXPECT_EQ(names.size(), keys.keys().size());
}

TEST(Config, DefaultsLieInTheirRangesAndObeyTheRules) {
  Config config;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) EXPECT_NO_THROW(key.set(key.get(), "default")) << key.name;
  accept([](Config&) {});
}

TEST(Config, TheWidthMustBeAMultipleOfTheHeads) {
  const auto set = [](Config& c) { c.model.width = 100, c.model.heads = 3; };
  expect_parts(refusal(set), {"model.width = 100", "model.heads = 3", "99 or 102"});
  expect_parts(refusal([](Config& c) { c.model.width = 2; }),
               {"model.width = 2", "model.heads = 4", "model.width to 4,"});
}

TEST(Config, AMicroBatchIsAtMostTheBatch) {
  const auto set = [](Config& c) { c.train.batch = 8, c.train.micro_batch = 9; };
  expect_parts(refusal(set), {"train.micro_batch = 9", "train.batch = 8", "lower"});
  accept([](Config& c) { c.train.batch = 8, c.train.micro_batch = 8; });
  accept([](Config& c) { c.train.batch = 8, c.train.micro_batch = 3; });
  accept([](Config& c) { c.train.batch = 8, c.train.micro_batch.reset(); });
}

TEST(Config, DropoutCanNumberTheRowsOfABatch) {
  const auto set = [](double dropout, std::int64_t batch) {
    return [=](Config& c) {
      c.model.dropout = dropout, c.model.heads = 64, c.model.context = 1 << 14, c.train.batch = batch;
    };
  };
  expect_parts(refusal(set(0.1, 4096)), {"train.batch = 4096", "model.heads = 64", "16384", "at most 4095"});
  accept(set(0.1, 4095));
  accept(set(0.0, 4096));
}

TEST(Config, Bf16IsOfTheNativePathOnACpu) {
  const auto set = [](AttentionPath path, const char* device) {
    return [=](Config& c) { c.run.precision = Precision::bf16, c.model.attention = path, c.run.device = device; };
  };
  expect_parts(refusal(set(AttentionPath::heads, "cpu")), {"bf16", "model.attention = heads", "native"});
  expect_parts(refusal(set(AttentionPath::fused, "cpu")), {"bf16", "model.attention = fused", "native"});
  expect_parts(refusal(set(AttentionPath::automatic, "cuda:1")), {"bf16", "run.device = cuda:1", "cpu"});
  accept(set(AttentionPath::automatic, "auto"));
  accept(set(AttentionPath::native, "cpu"));
}

TEST(Config, ExactlyOneOfStepsEpochsAndCharactersSaysHowLong) {
  const auto set = [](std::int64_t steps, std::int64_t epochs, std::int64_t characters) {
    return [=](Config& c) { c.train.steps = steps, c.train.epochs = epochs, c.train.characters = characters; };
  };
  expect_parts(refusal(set(0, 0, 0)), {"train.steps = 0", "train.epochs = 0", "train.characters = 0", "one above 0"});
  expect_parts(refusal(set(5, 7, 0)), {"train.steps = 5", "train.epochs = 7", "set the others to 0"});
  expect_parts(refusal(set(0, 7, 9)), {"train.epochs = 7", "train.characters = 9", "set the others to 0"});
  accept(set(5, 0, 0));
  accept(set(0, 7, 0));
  accept(set(0, 0, 9));
}

TEST(Config, ARunThatEndsByItsEvaluationsHasSome) {
  const std::vector<std::pair<std::string, void (*)(Config&)>> stops = {
      {"train.target_loss = 1.5", [](Config& c) { c.train.target_loss = 1.5; }},
      {"train.patience = 3", [](Config& c) { c.train.patience = 3; }}};
  for (const auto& [shown, stop] : stops) {
    const auto with = [stop = stop](void (*change)(Config&)) { return [=](Config& c) { stop(c), change(c); }; };
    expect_parts(refusal(with([](Config& c) { c.data.val_fraction = 0; })), {shown, "data.val_fraction = 0"});
    expect_parts(refusal(with([](Config& c) { c.train.eval_every = 0; })), {shown, "train.eval_every = 0"});
    accept(with([](Config& c) { c.data.val_fraction = 0, c.data.val_path = "val.txt"; }));
  }
}

TEST(Config, MomentumIsSgds) {
  expect_parts(refusal([](Config& c) { c.optimizer.momentum = 0.9; }),
               {"optimizer.momentum = 0.9", "optimizer.name = adamw"});
  accept([](Config& c) { c.optimizer.momentum = 0.9, c.optimizer.name = OptimizerName::sgd; });
}

TEST(Config, TensorFloatsAreForCuda) {
  expect_parts(refusal([](Config& c) { c.run.tf32 = true, c.run.device = "cpu"; }),
               {"run.tf32 = true", "run.device = cpu"});
  accept([](Config& c) { c.run.tf32 = true, c.run.device = "cuda"; });
}

TEST(Config, TheLeastLearningRateIsNotAboveTheLearningRate) {
  const auto set = [](Config& c) { c.optimizer.learning_rate = 0.001, c.schedule.min_learning_rate = 0.01; };
  expect_parts(refusal(set), {"schedule.min_learning_rate = 0.01", "optimizer.learning_rate = 0.001", "lower"});
  accept([](Config& c) { c.schedule.min_learning_rate = c.optimizer.learning_rate; });
}

TEST(Config, WarmupIsAtMostTheStepsWhereTheyAreKnown) {
  const auto set = [](Config& c) { c.train.steps = 10, c.schedule.warmup = 11; };
  expect_parts(refusal(set), {"schedule.warmup = 11", "the run of 10 steps", "lower"});
  accept([](Config& c) { c.train.steps = 10, c.schedule.warmup = 10; });
  accept([](Config& c) { c.train.steps = 0, c.train.epochs = 1, c.schedule.warmup = 11; });
}

TEST(Config, BetasAreTwoNumbers) {
  expect_parts(refusal([](Config& c) { c.optimizer.betas = {0.9}; }), {"optimizer.betas = [0.9]", "exactly two"});
  expect_parts(refusal([](Config& c) { c.optimizer.betas = {0.9, 0.99, 0.5}; }), {"[0.9, 0.99, 0.5]", "3 numbers"});
}

TEST(Config, TheFractionsLeaveSomethingToTrainOn) {
  const auto set = [](Config& c) { c.data.val_fraction = 0.5, c.data.test_fraction = 0.5; };
  expect_parts(refusal(set), {"data.val_fraction = 0.5", "data.test_fraction = 0.5", "below 1"});
  accept([](Config& c) { c.data.val_fraction = 0, c.data.test_fraction = 0.99; });
  accept([](Config& c) { c.data.val_fraction = 0.1, c.data.val_path = "val.txt"; });
}

TEST(Config, TheEncodingIsOneThatTheSystemKnows) {
  expect_parts(refusal([](Config& c) { c.data.encoding = "LATIN-99"; }), {"data.encoding = \"LATIN-99\"", "iconv -l"});
  accept([](Config& c) { c.data.encoding = "GB18030"; });
}

TEST(Config, BytesAreNeitherConvertedNorCounted) {
  const auto with = [](auto change) { return [=](Config& c) { c.data.format = DataFormat::bytes, change(c.data); }; };
  accept(with([](DataConfig&) {}));
  expect_parts(refusal(with([](DataConfig& d) { d.encoding = "LATIN1"; })),
               {"data.format = bytes", "data.encoding = LATIN1"});
  expect_parts(refusal(with([](DataConfig& d) { d.normalize = Normalization::nfc; })), {"data.normalize = nfc"});
  expect_parts(refusal(with([](DataConfig& d) { d.min_count = 2; })), {"data.min_count = 2"});
  expect_parts(refusal(with([](DataConfig& d) { d.max_vocabulary = 9; })), {"data.max_vocabulary = 9"});
  expect_parts(refusal(with([](DataConfig& d) { d.vocabulary = "v.txt"; })), {"data.vocabulary = v.txt"});
}

TEST(Config, EveryPresetLoadsAndObeysTheRules) {
  int presets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CHARGPT_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".json") continue;
    ConfigSources sources;
    sources.file = entry.path();
    EXPECT_NO_THROW(check_rules(load_config(sources).config)) << entry.path();
    ++presets;
  }
  EXPECT_GE(presets, 4);
}

}  // namespace
}  // namespace chargpt
