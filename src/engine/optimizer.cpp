#include "chargpt/engine/optimizer.hpp"

#include <torch/torch.h>

#include <algorithm>

namespace chargpt {

AdamW::AdamW(FlatParameters& parameters, const OptimizerConfig& config)
    : parameters_(parameters),
      config_(config),
      first_moment_(torch::zeros_like(parameters.values())),
      second_moment_(torch::zeros_like(parameters.values())) {}

double AdamW::gradient_norm() const { return at::linalg_vector_norm(parameters_.gradients()).item<double>(); }

void AdamW::step(double learning_rate, double gradient_norm) {
  const torch::NoGradGuard no_grad;
  if (config_.clip > 0.0) {
    const double factor = std::min(1.0, config_.clip / (gradient_norm + 1e-6));
    if (factor < 1.0) parameters_.gradients().mul_(factor);
  }
  ++steps_;
  const std::int64_t size = parameters_.size();
  switch (config_.decay) {
    case DecayScope::all:
      update(0, size, learning_rate, config_.weight_decay);
      break;
    case DecayScope::matrices:
      update(0, parameters_.matrix_size(), learning_rate, config_.weight_decay);
      update(parameters_.matrix_size(), size, learning_rate, 0.0);
      break;
  }
}

void AdamW::update(std::int64_t begin, std::int64_t end, double learning_rate, double weight_decay) {
  const auto part = [&](const torch::Tensor& whole) { return std::vector<torch::Tensor>{whole.slice(0, begin, end)}; };
  auto values = part(parameters_.values());
  auto gradients = part(parameters_.gradients());
  auto first = part(first_moment_);
  auto second = part(second_moment_);
  const torch::Tensor count =
      torch::full({}, static_cast<double>(steps_), parameters_.values().options().dtype(torch::kFloat));
  at::_fused_adamw_(values, gradients, first, second, {}, {count}, learning_rate, config_.betas[0], config_.betas[1],
                    weight_decay, config_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

}  // namespace chargpt
