#include "chargpt/engine/passes.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

AttentionPath settle(AttentionPath asked, const torch::Tensor& values) {
  const bool can_be_native = values.device().is_cpu() && values.scalar_type() == torch::kFloat;
  if (asked == AttentionPath::automatic) return can_be_native ? AttentionPath::native : AttentionPath::fused;
  if (asked == AttentionPath::native && !can_be_native) {
    throw Error(ExitCode::usage,
                fmt::format("model.attention is \"native\", which computes 32-bit floats on a CPU, but "
                            "the model is {} on {}; use auto or fused",
                            toString(values.scalar_type()), values.device().str()));
  }
  return asked;
}

void require_bf16(AttentionPath path, c10::Device device) {
  if (path != AttentionPath::native) {
    throw Error(ExitCode::usage,
                fmt::format("run.precision is \"bf16\", which only the native path on a CPU has, but the "
                            "model is computed by the {} path on {}; use fp32, or --device cpu",
                            name(path), device.str()));
  }
  if (bf16_units().empty()) {
    throw Error(
        ExitCode::usage,
        "run.precision is \"bf16\", but this processor has no bf16 products (AVX512_BF16 or AMX_BF16); use fp32");
  }
}

torch::Tensor to_tensor(const std::vector<std::int32_t>& ids, const TokenBatch& batch, torch::Device device) {
  return torch::tensor(ids, torch::kInt32).view({batch.windows, batch.length}).to(torch::kLong).to(device);
}

}  // namespace

Passes::Passes(CharGPT model, const RunConfig& run)
    : model_(std::move(model)), pool_(std::make_unique<ThreadPool>(at::get_num_threads(), run.pin)) {
  const torch::Tensor& values = model_->flat().values();
  path_ = settle(model_->config().attention, values);
  if (run.precision == Precision::bf16) require_bf16(path_, values.device());
  if (path_ != AttentionPath::native) return;
  network_ = std::make_unique<Network>(model_->config(), model_->vocabulary(), *pool_, run.precision);
}

void Passes::read_weights(bool training) {
  if (network_) network_->load(model_->flat().values().const_data_ptr<float>(), training);
}

torch::Tensor Passes::module_losses(const TokenBatch& batch, const DropoutState& dropout,
                                    at::Reduction::Reduction reduction, double label_smoothing) {
  const torch::Device device = model_->device();
  const torch::Tensor logits = model_->forward(to_tensor(batch.inputs, batch, device), dropout);  // (B, T, V)
  return at::cross_entropy_loss(logits.flatten(0, 1), to_tensor(batch.targets, batch, device).flatten(), {}, reduction,
                                /*ignore_index=*/-100, label_smoothing);
}

double Passes::accumulate_gradients(const TokenBatch& batch, const DropoutState& dropout, double share,
                                    double label_smoothing) {
  if (network_) {
    auto* gradients = model_->flat().gradients().mutable_data_ptr<float>();
    return share * network_->accumulate_gradients(batch, dropout, share, gradients, label_smoothing);
  }
  const torch::Tensor loss = module_losses(batch, dropout, at::Reduction::Mean, label_smoothing) * share;
  loss.backward();
  return loss.item<double>();
}

torch::Tensor Passes::logits(const TokenBatch& batch, const DropoutState& dropout) {
  const torch::NoGradGuard no_grad;
  if (!network_) return model_->forward(to_tensor(batch.inputs, batch, model_->device()), dropout);
  torch::Tensor logits = torch::empty({batch.windows, batch.length, model_->vocabulary()}, torch::kFloat);
  network_->logits(batch, dropout, {logits.mutable_data_ptr<float>(), static_cast<std::size_t>(logits.numel())});
  return logits;
}

std::vector<float> Passes::losses(const TokenBatch& batch) {
  if (network_) return network_->losses(batch);
  const torch::NoGradGuard no_grad;
  const torch::Tensor losses = module_losses(batch, {}, at::Reduction::None).to(torch::kFloat).cpu().contiguous();
  return {losses.const_data_ptr<float>(), losses.const_data_ptr<float>() + losses.numel()};
}

}  // namespace chargpt
