#include "chargpt/engine/numerics.hpp"

#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <limits>

#include "chargpt/base/random.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/engine/model_logits.hpp"
#include "chargpt/engine/passes.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 50, kBatch = 3;
constexpr double kSingle = 1e-5;            // fp32 against double, as the parity tests demand
constexpr double kFiniteDifference = 1e-6;  // central differences with the step below, in double
constexpr double kDifferenceStep = 1e-5;

/// What is checked: a network, with or without dropout.
struct Setting {
  std::string name;  ///< what sets it apart, to end a check's name with; empty: nothing
  ModelConfig model;
  DropoutState dropout;
};

ModelConfig small_model() {
  ModelConfig config;
  config.layers = 2;
  config.heads = 4;
  config.width = 32;
  config.context = 24;
  return config;
}

/// The lecture's network, and the one with every switch turned that changes what is computed. Initial weights are
/// PyTorch's for both: GPT-2's are so small that finite differences tell little of the queries.
std::vector<Setting> settings() {
  ModelConfig gpt2 = small_model();
  gpt2.embedding_dropout = true;
  gpt2.tied_head = true;
  gpt2.bias = false;
  const DropoutState dropout{0.3, 1, 0, 0};
  return {{"", small_model(), {}},
          {", dropout", small_model(), dropout},
          {", as GPT-2", gpt2, {}},
          {", as GPT-2, dropout", gpt2, dropout}};
}

/// A model with the same weights whatever its path and type.
Passes make_passes(ModelConfig config, AttentionPath path, const torch::TensorOptions& options) {
  config.attention = path;
  torch::manual_seed(1);
  Passes passes(CharGPT(config, kVocabulary, options));
  passes.read_weights(true);
  return passes;
}

TokenBatch some_batch() {
  TokenBatch batch{kBatch, small_model().context, {}, {}};
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(batch.windows * batch.length); ++i) {
    batch.inputs.push_back(static_cast<std::int32_t>(random_below(1, Purpose::data_order, 0, i, kVocabulary)));
    batch.targets.push_back(static_cast<std::int32_t>(random_below(1, Purpose::data_order, 1, i, kVocabulary)));
  }
  return batch;
}

const torch::Tensor& gradients(Passes& passes, const DropoutState& dropout) {
  FlatParameters& flat = passes.model()->flat();
  flat.zero_gradients();
  passes.accumulate_gradients(some_batch(), dropout, 1.0);
  return flat.gradients();
}

Check check_philox() {
  constexpr std::uint32_t kOnes = 0xffffffff;
  const bool right =
      philox({0, 0, 0, 0}, {0, 0}) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8} &&
      philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
          std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  return {"Philox gives the published answers", right ? 0.0 : 1.0, 0.0};
}

void check_paths(c10::Device device, const Setting& setting, std::vector<Check>& checks) {
  const DropoutState& dropout = setting.dropout;
  const auto on = [&](torch::ScalarType type) { return torch::TensorOptions(type).device(device); };
  Passes reference = make_passes(setting.model, AttentionPath::heads, on(torch::kDouble));
  const torch::Tensor logits = reference.logits(some_batch(), dropout);
  for (std::size_t i = 0; i < choice_names<AttentionPath>().size(); ++i) {
    const auto path = static_cast<AttentionPath>(i);
    if (path == AttentionPath::native && !device.is_cpu()) continue;
    Passes passes = make_passes(setting.model, path, on(torch::kFloat));
    checks.push_back(compare(fmt::format("logits, {}{}", name(path), setting.name),
                             passes.logits(some_batch(), dropout), logits, kSingle));
    checks.push_back(compare(fmt::format("gradients, {}{}", name(path), setting.name), gradients(passes, dropout),
                             gradients(reference, dropout), kSingle));
  }
}

/// What sampling computes from kept keys and values, against whole forward passes: no bit may differ.
Check check_cache(const Setting& setting) {
  Passes passes = make_passes(setting.model, AttentionPath::native, torch::kFloat);
  const NextLogits next = model_logits(passes);
  TokenBatch whole = some_batch();
  whole.windows = 1;
  const auto length = static_cast<std::size_t>(whole.length);
  const torch::Tensor wanted = passes.logits(whole)[0];  // (T, V)
  torch::Tensor got = torch::empty_like(wanted);
  for (std::size_t t = 1; t <= length; ++t) {
    const StreamWindow window{0, {whole.inputs.data(), t}};
    next({&window, 1}, numbers(got[static_cast<std::int64_t>(t) - 1]), [](std::size_t) {});
  }
  return compare("cached logits are the uncached ones" + setting.name, got, wanted, 0.0);
}

/// One direction through each parameter tensor: (loss(w + h d) - loss(w - h d)) / 2h is d times the gradient.
Check check_gradients(c10::Device device, const Setting& setting) {
  const DropoutState& dropout = setting.dropout;
  const auto options = torch::TensorOptions(torch::kDouble).device(device);
  Passes passes = make_passes(setting.model, AttentionPath::heads, options);
  const FlatParameters& flat = passes.model()->flat();
  const torch::Tensor truth = gradients(passes, dropout).clone();
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> differences, slopes;
  for (const auto& entry : flat.entries()) {
    torch::Tensor values = flat.values().detach().narrow(0, entry.offset, entry.count);
    torch::Tensor direction = torch::randn({entry.count}, torch::kDouble).to(device);
    direction /= direction.norm();
    const auto loss_at = [&](double distance) {
      const torch::Tensor before = values.clone();
      values.add_(direction, distance);
      const torch::Tensor rows = passes.logits(some_batch(), dropout).flatten(0, 1);
      const torch::Tensor targets = torch::tensor(some_batch().targets, torch::kInt32).to(torch::kLong).to(device);
      torch::Tensor loss = at::cross_entropy_loss(rows, targets);
      values.copy_(before);
      return loss;
    };
    const torch::Tensor gradient = truth.narrow(0, entry.offset, entry.count);
    const torch::Tensor slope = (loss_at(kDifferenceStep) - loss_at(-kDifferenceStep)) / (2 * kDifferenceStep);
    differences.push_back(slope / gradient.norm());  // so that every tensor counts alike
    slopes.push_back(direction.dot(gradient) / gradient.norm());
  }
  return compare("gradients are finite differences" + setting.name, torch::stack(slopes), torch::stack(differences),
                 kFiniteDifference);
}

}  // namespace

Check compare(const std::string& name, const torch::Tensor& got, const torch::Tensor& wanted, double tolerance) {
  const torch::Tensor a = got.detach().to(torch::kDouble).cpu(), b = wanted.detach().to(torch::kDouble).cpu();
  if (!at::isfinite(a).all().item<bool>() || !at::isfinite(b).all().item<bool>()) {
    return {name, std::numeric_limits<double>::quiet_NaN(), tolerance};
  }
  return {name, ((a - b).abs().max() / b.abs().max()).item<double>(), tolerance};
}

std::vector<Check> check_numerics(c10::Device device) {
  std::vector<Check> checks = {check_philox()};
  for (const Setting& setting : settings()) {
    check_paths(device, setting, checks);
    checks.push_back(check_gradients(device, setting));
    if (device.is_cpu() && setting.dropout.p == 0.0) checks.push_back(check_cache(setting));
  }
  return checks;
}

}  // namespace chargpt
