#include "chargpt/engine/optimizer.hpp"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "chargpt/base/checkpoint_folder.hpp"
#include "chargpt/kernels/adamw.hpp"
#include "chargpt/kernels/sgd.hpp"

namespace chargpt {

namespace {

/// Elements of a task: few enough for many tasks, enough for a task to be worth its start. The sums of squares of the
/// tasks are added in order, so that a norm does not depend on the number of threads.
constexpr std::int64_t kTask = 1 << 16;

std::int64_t tasks(std::int64_t count) { return (count + kTask - 1) / kTask; }

float single(double x) { return static_cast<float>(x); }

}  // namespace

Optimizer::Optimizer(FlatParameters& parameters, OptimizerConfig config, ThreadPool& pool)
    : parameters_(parameters), config_(std::move(config)), pool_(pool) {
  for (std::size_t i = 0; i < optimizer_state(config_).size(); ++i) {
    state_.push_back(torch::zeros_like(parameters.values()));
  }
}

double Optimizer::gradient_norm() const {
  const torch::Tensor& gradients = parameters_.gradients();
  if (!gradients.device().is_cpu()) return at::linalg_vector_norm(gradients).item<double>();
  const auto* data = gradients.const_data_ptr<float>();
  const std::int64_t size = parameters_.size();
  std::vector<double> squares(static_cast<std::size_t>(tasks(size)));
  pool_.run(tasks(size), [&](std::int64_t i, int) {
    const auto count = static_cast<std::size_t>(std::min(kTask, size - i * kTask));
    squares[static_cast<std::size_t>(i)] = sum_of_squares(data + i * kTask, count);
  });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

void Optimizer::step(double learning_rate, double gradient_norm) {
  const torch::NoGradGuard no_grad;
  const double factor = config_.clip > 0.0 ? std::min(1.0, config_.clip / (gradient_norm + 1e-6)) : 1.0;
  ++steps_;
  const std::int64_t size = parameters_.size(), matrices = parameters_.matrix_size();
  switch (config_.decay) {
    case DecayScope::all:
      update({0, size, learning_rate, factor, config_.weight_decay});
      break;
    case DecayScope::matrices:
      update({0, matrices, learning_rate, factor, config_.weight_decay});
      update({matrices, size, learning_rate, factor, 0.0});
      break;
  }
}

void Optimizer::update(const Part& part) {
  const bool on_cpu = parameters_.values().device().is_cpu();
  if (!on_cpu && part.factor < 1.0) parameters_.gradients().slice(0, part.begin, part.end).mul_(part.factor);
  switch (config_.name) {
    case OptimizerName::adamw:
      return on_cpu ? adamw(part) : adamw_by_torch(part);
    case OptimizerName::sgd:
      return on_cpu ? sgd(part) : sgd_by_torch(part);
  }
}

void Optimizer::adamw(const Part& part) {
  const auto t = static_cast<double>(steps_);
  const AdamWStep step{single(part.learning_rate),
                       single(1.0 - config_.betas[0]),
                       single(1.0 - config_.betas[1]),
                       single(config_.epsilon),
                       single(part.weight_decay),
                       single(1.0 - std::pow(config_.betas[0], t)),
                       single(1.0 - std::pow(config_.betas[1], t)),
                       single(part.factor)};
  auto* values = parameters_.values().mutable_data_ptr<float>();
  const auto* gradients = parameters_.gradients().const_data_ptr<float>();
  auto* first = state_[0].mutable_data_ptr<float>();
  auto* second = state_[1].mutable_data_ptr<float>();
  pool_.run(tasks(part.end - part.begin), [&](std::int64_t i, int) {
    const std::int64_t from = part.begin + i * kTask;
    const auto count = static_cast<std::size_t>(std::min(kTask, part.end - from));
    chargpt::adamw(step, gradients + from, count, values + from, first + from, second + from);
  });
}

void Optimizer::sgd(const Part& part) {
  const SgdStep step{single(part.learning_rate), single(config_.momentum), single(part.weight_decay),
                     single(part.factor)};
  auto* values = parameters_.values().mutable_data_ptr<float>();
  const auto* gradients = parameters_.gradients().const_data_ptr<float>();
  auto* momentum = state_.empty() ? nullptr : state_[0].mutable_data_ptr<float>();
  pool_.run(tasks(part.end - part.begin), [&](std::int64_t i, int) {
    const std::int64_t from = part.begin + i * kTask;
    const auto count = static_cast<std::size_t>(std::min(kTask, part.end - from));
    chargpt::sgd(step, gradients + from, count, values + from, momentum == nullptr ? nullptr : momentum + from);
  });
}

void Optimizer::adamw_by_torch(const Part& part) {
  const auto cut = [&](const torch::Tensor& whole) {
    return std::vector<torch::Tensor>{whole.slice(0, part.begin, part.end)};
  };
  auto values = cut(parameters_.values());
  auto gradients = cut(parameters_.gradients());
  auto first = cut(state_[0]);
  auto second = cut(state_[1]);
  const torch::Tensor count =
      torch::full({}, static_cast<double>(steps_), parameters_.values().options().dtype(torch::kFloat));
  at::_fused_adamw_(values, gradients, first, second, {}, {count}, part.learning_rate, config_.betas[0],
                    config_.betas[1], part.weight_decay, config_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

void Optimizer::sgd_by_torch(const Part& part) {
  const auto cut = [&](const torch::Tensor& whole) { return whole.slice(0, part.begin, part.end); };
  torch::Tensor gradient = cut(parameters_.gradients());
  if (part.weight_decay > 0.0) gradient.add_(cut(parameters_.values()), part.weight_decay);
  if (!state_.empty()) gradient = cut(state_[0]).mul_(config_.momentum).add_(gradient);
  cut(parameters_.values()).sub_(gradient, part.learning_rate);
}

}  // namespace chargpt
