#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "chargpt/base/parameter_layout.hpp"

namespace chargpt {

/// All parameters of a model in one buffer and all gradients in another. The modules' parameters are views into them,
/// so that the optimizer, clipping, zeroing and a checkpoint are each one pass over contiguous memory.
///
/// Module::to(), zero_grad(set_to_none) and torch::load would break the views: choose type and device here, zero
/// through zero_gradients(), and copy values into the buffer.
class FlatParameters {
 public:
  using Entry = ParameterLayout::Entry;

  FlatParameters() = default;
  /// Copies the parameters, found by their names, into new buffers of `options` and makes them views.
  FlatParameters(ParameterLayout layout, const torch::OrderedDict<std::string, torch::Tensor>& parameters,
                 const torch::TensorOptions& options);

  const torch::Tensor& values() const { return values_; }        ///< (size())
  const torch::Tensor& gradients() const { return gradients_; }  ///< (size())
  const std::vector<Entry>& entries() const { return layout_.entries(); }
  std::int64_t size() const { return values_.numel(); }
  std::int64_t matrix_size() const { return layout_.matrix_size(); }
  const ParameterLayout& layout() const { return layout_; }
  void zero_gradients();

  /// A further leaf over `rows` x `columns` elements from `offset` on: same memory, same gradients.
  torch::Tensor leaf(std::int64_t offset, std::int64_t rows, std::int64_t columns) const;

 private:
  ParameterLayout layout_;
  torch::Tensor values_;
  torch::Tensor gradients_;
};

}  // namespace chargpt
