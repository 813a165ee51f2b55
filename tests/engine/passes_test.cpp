#include "chargpt/engine/passes.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "chargpt/base/config_key.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/kernels/bf16.hpp"
#include "kernels/support.hpp"
#include "support/model_switches.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 37;

struct Shape {
  std::int64_t layers, heads, width, context, windows, length;
};

/// Sizes that fill no vector, tile or panel, and ones that do.
const std::vector<Shape> kShapes = {{2, 3, 24, 10, 4, 10}, {1, 1, 7, 5, 3, 4},     {2, 16, 128, 64, 3, 64},
                                    {1, 2, 66, 40, 2, 33}, {1, 4, 128, 100, 2, 1}, {2, 2, 128, 70, 1, 70}};

ModelConfig config_of(const Shape& shape, AttentionPath path, const ModelSwitches& switches = kModelSwitches[0]) {
  ModelConfig config;
  config.layers = shape.layers;
  config.heads = shape.heads;
  config.width = shape.width;
  config.context = shape.context;
  config.dropout = 0.0;  // only what a pass is told counts
  config.attention = path;
  switches.turn(config);
  return config;
}

TokenBatch batch_of(const Shape& shape) {
  TokenBatch batch{shape.windows, shape.length, {}, {}};
  for (std::int64_t i = 0; i < shape.windows * shape.length; ++i) {
    batch.inputs.push_back(static_cast<std::int32_t>(i * 7 % kVocabulary));
    batch.targets.push_back(static_cast<std::int32_t>(i * i % kVocabulary));
  }
  return batch;
}

Passes passes_of(const ModelConfig& config, const torch::TensorOptions& options = torch::kFloat) {
  torch::manual_seed(12046);
  Passes passes(CharGPT(config, kVocabulary, options));
  passes.read_weights(true);
  return passes;
}

Passes passes_of(const Shape& shape, AttentionPath path, const torch::TensorOptions& options = torch::kFloat) {
  return passes_of(config_of(shape, path), options);
}

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a.to(torch::kDouble) - b.to(torch::kDouble)).abs().max() / b.to(torch::kDouble).abs().max()).item<double>();
}

/// Every path of the enum. A new one is tested by being there.
std::vector<AttentionPath> all_paths() {
  std::vector<AttentionPath> paths;
  for (std::size_t i = 0; i < choice_names<AttentionPath>().size(); ++i) paths.push_back(static_cast<AttentionPath>(i));
  return paths;
}

/// Loss, logits and every gradient of the paths against those of `heads` in double, without dropout and with it.
void expect_heads_results(const Shape& shape, const ModelSwitches& switches, const std::vector<AttentionPath>& paths) {
  for (const double p : {0.0, 0.4}) {
    const DropoutState dropout{p, 5, 17, 3};
    Passes truth = passes_of(config_of(shape, AttentionPath::heads, switches), torch::kDouble);
    const double loss = truth.accumulate_gradients(batch_of(shape), dropout, 0.5);
    const torch::Tensor logits = truth.logits(batch_of(shape), dropout);
    for (const AttentionPath path : paths) {
      SCOPED_TRACE(fmt::format("{}, {}, width {}, heads {}, length {}, dropout {}", name(path), switches.name,
                               shape.width, shape.heads, shape.length, p));
      Passes passes = passes_of(config_of(shape, path, switches));
      EXPECT_NEAR(passes.accumulate_gradients(batch_of(shape), dropout, 0.5), loss, 1e-6 * loss);
      EXPECT_LE(relative_difference(passes.logits(batch_of(shape), dropout), logits), 1e-5);
      for (const auto& parameter : passes.model()->named_parameters()) {
        const torch::Tensor expected = truth.model()->named_parameters()[parameter.key()].grad();
        // A gradient that is 0 but for rounding has no size of its own to compare with.
        const double size = std::max(expected.abs().max().item<double>(), 1e-3);
        const double error = (parameter.value().grad().to(torch::kDouble) - expected).abs().max().item<double>();
        EXPECT_LE(error, 1e-5 * size) << parameter.key();
      }
    }
  }
}

TEST(Passes, AllPathsGiveTheLossAndEveryGradientOfHeadsInDouble) {
  for (const Shape& shape : kShapes) expect_heads_results(shape, kModelSwitches[0], all_paths());
}

TEST(Passes, SoTheyDoWithEverySwitchOfTheModel) {
  for (const ModelSwitches& switches : kModelSwitches) {
    for (const Shape& shape : {kShapes[0], kShapes[3]}) expect_heads_results(shape, switches, all_paths());
  }
}

TEST(Passes, SoDoesNativeOnEveryInstructionSet) {
  on_every_target([] {
    for (const ModelSwitches& switches : kModelSwitches) {
      expect_heads_results(kShapes[0], switches, {AttentionPath::native});
    }
  });
}

TEST(Passes, AllPathsGiveTheLossesOfHeadsInDouble) {
  for (const Shape& shape : kShapes) {
    const auto truth = passes_of(shape, AttentionPath::heads, torch::kDouble).losses(batch_of(shape));
    for (const AttentionPath path : all_paths()) {
      SCOPED_TRACE(name(path));
      const auto losses = passes_of(shape, path).losses(batch_of(shape));
      ASSERT_EQ(losses.size(), truth.size());
      for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], truth[i], 1e-5F * truth[i]);
    }
  }
}

/// Of a model with these switches, on 1, 2 and 3 threads and in three passes.
void expect_one_gradient(const ModelSwitches& switches) {
  const Shape shape{2, 4, 32, 20, 9, 20};
  const ModelConfig config = config_of(shape, AttentionPath::native, switches);
  const TokenBatch batch = batch_of(shape);
  const DropoutState dropout{0.4, 5, 17, 0};
  const int threads = at::get_num_threads();
  torch::Tensor truth;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    Passes whole = passes_of(config);
    whole.accumulate_gradients(batch, dropout, 1.0);
    if (count == 1) truth = whole.model()->flat().gradients();
    EXPECT_TRUE(whole.model()->flat().gradients().equal(truth)) << count << " threads";
  }
  at::set_num_threads(threads);

  Passes split = passes_of(config);
  for (const std::int64_t first : {0, 3, 6}) {
    TokenBatch part{3, shape.length, {}, {}};
    const std::int64_t begin = first * shape.length, end = begin + 3 * shape.length;
    part.inputs.assign(batch.inputs.begin() + begin, batch.inputs.begin() + end);
    part.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + end);
    split.accumulate_gradients(part, {0.4, 5, 17, first}, 3.0 / 9.0);
  }
  // The same sums in the same order; only share / windows is rounded once more.
  EXPECT_LE(relative_difference(split.model()->flat().gradients(), truth), 2e-7);
}

TEST(Passes, GradientsOfNativeDoNotDependOnThreadsOrOnTheSplitOfTheBatch) {
  for (const ModelSwitches& switches : kModelSwitches) {
    SCOPED_TRACE(switches.name);
    expect_one_gradient(switches);
  }
}

TEST(Passes, AWindowsLossesDoNotDependOnItsNeighboursOrOnWhatComesBehind) {
  const Shape shape{2, 4, 32, 20, 5, 20};
  Passes passes = passes_of(shape, AttentionPath::native);
  const TokenBatch batch = batch_of(shape);
  const auto together = passes.losses(batch);
  for (std::int64_t w = 0; w < shape.windows; ++w) {
    TokenBatch alone{1, 7, {}, {}};
    const auto begin = w * shape.length;
    alone.inputs.assign(batch.inputs.begin() + begin, batch.inputs.begin() + begin + 7);
    alone.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + begin + 7);
    const auto losses = passes.losses(alone);
    EXPECT_TRUE(std::equal(losses.begin(), losses.end(), together.begin() + begin)) << "window " << w;
  }
}

TEST(Passes, ANaNAmongTheWeightsReachesTheLoss) {
  const Shape shape{1, 2, 16, 8, 1, 8};
  Passes passes = passes_of(shape, AttentionPath::native);
  for (const auto& parameter : passes.model()->named_parameters()) {
    if (parameter.key() == "token_emb.weight") continue;  // rows of symbols that do not occur matter to nobody
    const torch::NoGradGuard no_grad;
    torch::Tensor first = parameter.value().flatten()[0];
    const float value = first.item<float>();
    first.fill_(std::numeric_limits<float>::quiet_NaN());
    passes.read_weights(false);
    const auto losses = passes.losses(batch_of(shape));
    EXPECT_TRUE(std::any_of(losses.begin(), losses.end(), [](float x) { return std::isnan(x); })) << parameter.key();
    first.fill_(value);
  }
}

TEST(Passes, Bf16IsRefusedWhereItCannotBe) {
  RunConfig run;
  run.precision = Precision::bf16;
  const auto refused = [&](const torch::TensorOptions& options) {
    const Shape shape{1, 2, 16, 8, 1, 8};
    try {
      Passes(CharGPT(config_of(shape, AttentionPath::automatic), kVocabulary, options), run);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return std::string(error.what()).find("run.precision is \"bf16\"") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused(torch::kDouble));  // the fused path takes these
  EXPECT_EQ(refused(torch::kFloat), bf16_units().empty());
}

TEST(Passes, NativeIsRefusedForWhatTheKernelsCannotDo) {
  const Shape shape{1, 2, 16, 8, 1, 8};
  try {
    passes_of(shape, AttentionPath::native, torch::kDouble);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
  EXPECT_EQ(passes_of(shape, AttentionPath::automatic).path(), AttentionPath::native);
  EXPECT_EQ(passes_of(shape, AttentionPath::automatic, torch::kDouble).path(), AttentionPath::fused);
}

}  // namespace
}  // namespace chargpt
