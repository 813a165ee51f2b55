#pragma once

#include <torch/types.h>

#include <cstdint>

#include "chargpt/base/thread_pool.hpp"
#include "chargpt/nn/flat_parameters.hpp"

namespace chargpt {

/// An exponential moving average of a model's weights over the steps: after step t (1, 2, ...)
///   average = d * average + (1 - d) * weights,   d = min(decay, (t - 1) / (t + 9))
/// so that it begins with the weights of step 1 and forgets the first ones soon, whatever the decay.
class WeightAverage {
 public:
  /// Begins with the parameters' values. They must outlive this, and so must `pool`.
  WeightAverage(FlatParameters& parameters, double decay, ThreadPool& pool);

  void update(std::int64_t step);
  /// The parameters take the averages' values and the other way round: to evaluate with them, then to go on.
  void exchange();
  /// (P), like the flat values.
  const torch::Tensor& values() const { return values_; }

 private:
  FlatParameters& parameters_;
  double decay_;
  ThreadPool& pool_;
  torch::Tensor values_;
};

}  // namespace chargpt
