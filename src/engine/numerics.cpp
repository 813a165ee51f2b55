#include "chargpt/engine/numerics.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <limits>

#include "chargpt/base/random.hpp"
#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 50, kBatch = 3;
constexpr double kSingle = 1e-5;            // fp32 against double, as the parity tests demand
constexpr double kFiniteDifference = 1e-6;  // central differences with the step below, in double
constexpr double kDifferenceStep = 1e-5;

ModelConfig small_model(AttentionPath path) {
  ModelConfig config;
  config.layers = 2;
  config.heads = 4;
  config.width = 32;
  config.context = 24;
  config.attention = path;
  return config;
}

/// A model with the same weights whatever its path and type.
CharGPT make_model(AttentionPath path, const torch::TensorOptions& options) {
  torch::manual_seed(1);
  return CharGPT(small_model(path), kVocabulary, options);
}

/// A fixed batch, and what a training step makes of it.
class Batch {
 public:
  Batch(c10::Device device, double dropout) : dropout_{dropout, 1, 0, 0} {
    const std::int64_t T = small_model(AttentionPath::heads).context;
    torch::Tensor ids = torch::empty({kBatch, T + 1}, torch::kLong);
    for (std::int64_t i = 0; i < ids.numel(); ++i) {
      ids.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(
          random_below(1, Purpose::data_order, 0, static_cast<std::uint64_t>(i), kVocabulary));
    }
    inputs_ = ids.slice(1, 0, T).contiguous().to(device);
    targets_ = ids.slice(1, 1, T + 1).contiguous().to(device);
  }

  torch::Tensor logits(CharGPT& model) const { return model->forward(inputs_, dropout_); }
  torch::Tensor loss(CharGPT& model) const {
    return at::cross_entropy_loss(logits(model).flatten(0, 1), targets_.flatten());
  }
  torch::Tensor gradients(CharGPT& model) const {
    model->flat().zero_gradients();
    loss(model).backward();
    return model->flat().gradients();
  }

 private:
  DropoutState dropout_;
  torch::Tensor inputs_, targets_;
};

Check check_philox() {
  constexpr std::uint32_t kOnes = 0xffffffff;
  const bool right =
      philox({0, 0, 0, 0}, {0, 0}) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8} &&
      philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
          std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  return {"Philox gives the published answers", right ? 0.0 : 1.0, 0.0};
}

void check_paths(c10::Device device, double dropout, std::vector<Check>& checks) {
  const Batch batch(device, dropout);
  CharGPT reference = make_model(AttentionPath::heads, torch::TensorOptions(torch::kDouble).device(device));
  const torch::Tensor logits = batch.logits(reference).detach(), gradients = batch.gradients(reference);
  const char* with = dropout == 0.0 ? "" : ", dropout";
  for (std::size_t i = 0; i < choice_names<AttentionPath>().size(); ++i) {
    const auto path = static_cast<AttentionPath>(i);
    CharGPT model = make_model(path, torch::TensorOptions(torch::kFloat).device(device));
    checks.push_back(
        compare(fmt::format("logits, {}{}", name(path), with), batch.logits(model).detach(), logits, kSingle));
    checks.push_back(
        compare(fmt::format("gradients, {}{}", name(path), with), batch.gradients(model), gradients, kSingle));
  }
}

/// One direction through each parameter tensor: (loss(w + h d) - loss(w - h d)) / 2h is d times the gradient.
Check check_gradients(c10::Device device, double dropout) {
  const Batch batch(device, dropout);
  CharGPT model = make_model(AttentionPath::heads, torch::TensorOptions(torch::kDouble).device(device));
  const torch::Tensor gradients = batch.gradients(model).clone();
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> differences, slopes;
  for (const auto& entry : model->flat().entries()) {
    torch::Tensor values = model->flat().values().detach().narrow(0, entry.offset, entry.count);
    torch::Tensor direction = torch::randn({entry.count}, torch::kDouble).to(device);
    direction /= direction.norm();
    const auto loss_at = [&](double distance) {
      const torch::Tensor before = values.clone();
      values.add_(direction, distance);
      const torch::Tensor loss = batch.loss(model).clone();
      values.copy_(before);
      return loss;
    };
    const torch::Tensor gradient = gradients.narrow(0, entry.offset, entry.count);
    const torch::Tensor slope = (loss_at(kDifferenceStep) - loss_at(-kDifferenceStep)) / (2 * kDifferenceStep);
    differences.push_back(slope / gradient.norm());  // so that every tensor counts alike
    slopes.push_back(direction.dot(gradient) / gradient.norm());
  }
  return compare(dropout == 0.0 ? "gradients are finite differences" : "gradients are finite differences, dropout",
                 torch::stack(slopes), torch::stack(differences), kFiniteDifference);
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
  for (const double dropout : {0.0, 0.3}) {
    check_paths(device, dropout, checks);
    checks.push_back(check_gradients(device, dropout));
  }
  return checks;
}

}  // namespace chargpt
