#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace chargpt {

/// All parameters of a model in one buffer and all gradients in another. The modules' parameters are views into them,
/// so that the optimizer, clipping, zeroing and a checkpoint are each one pass over contiguous memory. Matrices stand
/// before vectors: "decay matrices only" is a prefix.
///
/// Module::to(), zero_grad(set_to_none) and torch::load would break the views: choose type and device here, zero
/// through zero_gradients(), and copy values into the buffer.
class FlatParameters {
 public:
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t offset;  ///< in elements
    std::int64_t count;
  };
  using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

  FlatParameters() = default;
  /// Copies the parameters into new buffers of `options`, in the order given (matrices first), and makes them views.
  FlatParameters(const NamedTensors& parameters, const torch::TensorOptions& options);

  const torch::Tensor& values() const { return values_; }        ///< (size())
  const torch::Tensor& gradients() const { return gradients_; }  ///< (size())
  const std::vector<Entry>& entries() const { return entries_; }
  std::int64_t size() const { return values_.numel(); }
  std::int64_t matrix_size() const { return matrix_size_; }  ///< elements in parameters of two dimensions
  void zero_gradients() { gradients_.zero_(); }

  /// A further leaf over `rows` x `columns` elements from `offset` on: same memory, same gradients.
  torch::Tensor leaf(std::int64_t offset, std::int64_t rows, std::int64_t columns) const;

 private:
  torch::Tensor values_;
  torch::Tensor gradients_;
  std::vector<Entry> entries_;
  std::int64_t matrix_size_ = 0;
};

}  // namespace chargpt
