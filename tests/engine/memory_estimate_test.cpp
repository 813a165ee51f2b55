#include "chargpt/engine/memory_estimate.hpp"

#include <gtest/gtest.h>

#include "chargpt/base/model_size.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 65;

Config config_of(AttentionPath path) {
  Config config;
  config.model.attention = path;
  config.train.batch = 100;
  return config;
}

std::int64_t memory(const Config& config, std::int64_t windows) {
  return training_memory(config, kVocabulary, c10::kCPU, windows);
}

TEST(TrainingMemory, CountsEachCopyOfTheParameters) {
  Config config = config_of(AttentionPath::fused);
  const std::int64_t parameters = 4 * parameter_count(config.model, kVocabulary), adamw = memory(config, 1);
  config.train.ema = 0.99;
  EXPECT_EQ(memory(config, 1), adamw + 2 * parameters);
  config.train.ema = 0.0;
  config.optimizer.name = OptimizerName::sgd;
  EXPECT_EQ(memory(config, 1), adamw - 2 * parameters);
  config.optimizer.momentum = 0.9;
  EXPECT_EQ(memory(config, 1), adamw - parameters);
}

TEST(TrainingMemory, GrowsWithThePassOnEveryPath) {
  for (const AttentionPath path :
       {AttentionPath::automatic, AttentionPath::heads, AttentionPath::fused, AttentionPath::native}) {
    EXPECT_GT(memory(config_of(path), 2), memory(config_of(path), 1)) << name(path);
  }
}

TEST(RequireRoom, RefusesAModelThatDoesNotFitWhateverThePass) {
  Config config;
  config.train.ema = 0.9;
  const std::int64_t needed = 4 * 5 * parameter_count(config.model, kVocabulary);
  EXPECT_NO_THROW(require_room(config, kVocabulary, needed));
  expect_error(ExitCode::out_of_memory, {"parameters", "model.width (128)"},
               [&] { require_room(config, kVocabulary, needed - 1); });
  config.model.layers = 1024;
  config.model.width = 65536;  // 200 TB, which a system may well promise
  EXPECT_THROW(require_room(config, kVocabulary, std::int64_t{1} << 46), Error);
}

TEST(TrainingMemory, CountsTheIdsOfABatchOfWhichTheKernelsKeepFewWindows) {
  const Config config = config_of(AttentionPath::native);
  const std::int64_t many = 1 << 19;
  EXPECT_EQ(memory(config, 2 * many), memory(config, many) + 2 * 4 * config.model.context * many);
}

TEST(TrainingMemory, OfWhatNoMachineHoldsDoesNotOverflow) {
  for (const AttentionPath path : {AttentionPath::heads, AttentionPath::fused, AttentionPath::native}) {
    Config config = config_of(path);
    config.model = {.layers = 1024, .heads = 1024, .width = 65536, .context = 1 << 14};
    config.model.attention = path;
    EXPECT_GT(memory(config, 1 << 20), memory(config, 1)) << name(path);
    EXPECT_GT(memory(config, 1), std::int64_t{1} << 40) << name(path);
  }
}

/// Whether so many bytes are enough for a try.
void require(const Config& config, std::int64_t available) {
  require_room_for_pass(config, kVocabulary, c10::kCPU, available);
}

TEST(RequireRoomForPass, RefusesWhatTakesTwiceOfWhatIsThere) {
  for (const AttentionPath path : {AttentionPath::heads, AttentionPath::fused, AttentionPath::native}) {
    Config config = config_of(path);
    config.train.batch = 1 << 20;
    const std::int64_t half = memory(config, config.train.batch) / 2;
    EXPECT_NO_THROW(require(config, half)) << name(path);
    expect_error(ExitCode::out_of_memory,
                 {"1048576 windows of 64 characters", "train.micro_batch=auto", "train.batch (1048576)",
                  "model.context (64)", std::to_string(half >> 19) + " MiB"},
                 [&] { require(config, half - 1); });
    config.train.micro_batch = choose_micro_batch(config, kVocabulary, c10::kCPU, half - 1);
    EXPECT_NO_THROW(require(config, half - 1)) << name(path);
  }
}

TEST(RequireRoomForPass, SaysThatOneWindowIsTooLarge) {
  Config config = config_of(AttentionPath::heads);
  config.train.micro_batch = 1;
  expect_error(ExitCode::out_of_memory, {"1 window of 64", "one window alone", "model.context (64)"},
               [&] { require(config, memory(config, 1) / 2 - 1); });
}

/// In which a batch of windows is split where this much memory is free.
std::int64_t chosen(const Config& config, std::int64_t available) {
  return choose_micro_batch(config, kVocabulary, c10::kCPU, available);
}

TEST(ChooseMicroBatch, IsTheWholeBatchWhereThatFits) {
  EXPECT_EQ(chosen(config_of(AttentionPath::fused), std::int64_t{1} << 40), 0);
}

TEST(ChooseMicroBatch, HalvesTheBatchUntilItFitsWithRoomToSpare) {
  const Config config = config_of(AttentionPath::fused);
  for (const std::int64_t fitting : {50, 25, 13, 7, 4, 2, 1}) {
    EXPECT_EQ(chosen(config, memory(config, fitting) / 4 * 5 + 8), fitting);
    EXPECT_LT(chosen(config, memory(config, fitting) / 4 * 5 - 8), std::max<std::int64_t>(fitting, 2));
  }
  EXPECT_EQ(chosen(config, 0), 1);
}

TEST(FreeMemory, IsSomeOnTheCpu) { EXPECT_GT(free_memory(c10::kCPU), 1 << 20); }

}  // namespace
}  // namespace chargpt
