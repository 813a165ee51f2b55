#include "chargpt/engine/optimizer.hpp"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "chargpt/kernels/adamw.hpp"

namespace chargpt {

namespace {

/// Elements of a task: few enough for many tasks, enough for a task to be worth its start. The sums of squares of the
/// tasks are added in order, so that a norm does not depend on the number of threads.
constexpr std::int64_t kTask = 1 << 16;

std::int64_t tasks(std::int64_t count) { return (count + kTask - 1) / kTask; }

}  // namespace

AdamW::AdamW(FlatParameters& parameters, OptimizerConfig config, ThreadPool& pool)
    : parameters_(parameters),
      config_(std::move(config)),
      pool_(pool),
      first_moment_(torch::zeros_like(parameters.values())),
      second_moment_(torch::zeros_like(parameters.values())) {}

double AdamW::gradient_norm() const {
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

void AdamW::step(double learning_rate, double gradient_norm) {
  const double factor = config_.clip > 0.0 ? std::min(1.0, config_.clip / (gradient_norm + 1e-6)) : 1.0;
  ++steps_;
  const std::int64_t size = parameters_.size();
  switch (config_.decay) {
    case DecayScope::all:
      update(0, size, learning_rate, factor, config_.weight_decay);
      break;
    case DecayScope::matrices:
      update(0, parameters_.matrix_size(), learning_rate, factor, config_.weight_decay);
      update(parameters_.matrix_size(), size, learning_rate, factor, 0.0);
      break;
  }
}

void AdamW::update(std::int64_t begin, std::int64_t end, double learning_rate, double factor, double weight_decay) {
  const torch::NoGradGuard no_grad;
  if (!parameters_.values().device().is_cpu()) {
    if (factor < 1.0) parameters_.gradients().slice(0, begin, end).mul_(factor);
    return update_by_torch(begin, end, learning_rate, weight_decay);
  }
  const auto single = [](double x) { return static_cast<float>(x); };
  const auto t = static_cast<double>(steps_);
  const AdamWStep step{single(learning_rate),
                       single(1.0 - config_.betas[0]),
                       single(1.0 - config_.betas[1]),
                       single(config_.epsilon),
                       single(weight_decay),
                       single(1.0 - std::pow(config_.betas[0], t)),
                       single(1.0 - std::pow(config_.betas[1], t)),
                       single(factor)};
  auto* values = parameters_.values().mutable_data_ptr<float>();
  const auto* gradients = parameters_.gradients().const_data_ptr<float>();
  auto* first = first_moment_.mutable_data_ptr<float>();
  auto* second = second_moment_.mutable_data_ptr<float>();
  pool_.run(tasks(end - begin), [&](std::int64_t i, int) {
    const std::int64_t from = begin + i * kTask;
    const auto count = static_cast<std::size_t>(std::min(kTask, end - from));
    adamw(step, gradients + from, count, values + from, first + from, second + from);
  });
}

void AdamW::update_by_torch(std::int64_t begin, std::int64_t end, double learning_rate, double weight_decay) {
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
