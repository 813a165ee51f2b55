#include "chargpt/engine/weight_average.hpp"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>

#include "chargpt/kernels/weight_average.hpp"

namespace chargpt {

WeightAverage::WeightAverage(FlatParameters& parameters, double decay, ThreadPool& pool)
    : parameters_(parameters), decay_(decay), pool_(pool), values_(parameters.values().detach().clone()) {}

void WeightAverage::update(std::int64_t step) {
  const auto t = static_cast<double>(step);
  const double decay = std::min(decay_, (t - 1.0) / (t + 9.0));
  const torch::NoGradGuard no_grad;
  if (!values_.device().is_cpu()) {
    values_.lerp_(parameters_.values(), 1.0 - decay);
    return;
  }
  constexpr std::int64_t kTask = 1 << 16;  // enough elements to be worth a task's start
  const std::int64_t size = parameters_.size();
  const auto* values = parameters_.values().const_data_ptr<float>();
  auto* average = values_.mutable_data_ptr<float>();
  pool_.run((size + kTask - 1) / kTask, [&](std::int64_t i, int) {
    const auto count = static_cast<std::size_t>(std::min(kTask, size - i * kTask));
    update_average(values + i * kTask, count, static_cast<float>(decay), average + i * kTask);
  });
}

void WeightAverage::exchange() {
  const torch::NoGradGuard no_grad;
  const torch::Tensor raw = parameters_.values().clone();
  parameters_.values().copy_(values_);
  values_.copy_(raw);
}

}  // namespace chargpt
