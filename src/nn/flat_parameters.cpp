#include "chargpt/nn/flat_parameters.hpp"

#include <torch/torch.h>

namespace chargpt {

FlatParameters::FlatParameters(const NamedTensors& parameters, const torch::TensorOptions& options) {
  const torch::NoGradGuard no_grad;
  std::int64_t total = 0;
  for (const auto& [name, parameter] : parameters) {
    entries_.push_back({name, parameter.sizes().vec(), total, parameter.numel()});
    total += parameter.numel();
    if (parameter.dim() >= 2) matrix_size_ = total;
  }
  values_ = torch::empty({total}, options);
  gradients_ = torch::zeros({total}, options);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Entry& entry = entries_[i];
    torch::Tensor parameter = parameters[i].second;
    const torch::Tensor view = values_.narrow(0, entry.offset, entry.count).view(entry.shape);
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradients_.narrow(0, entry.offset, entry.count).view(entry.shape);
  }
}

torch::Tensor FlatParameters::leaf(std::int64_t offset, std::int64_t rows, std::int64_t columns) const {
  torch::Tensor view = values_.narrow(0, offset, rows * columns).view({rows, columns}).detach();
  view.requires_grad_(true);
  view.mutable_grad() = gradients_.narrow(0, offset, rows * columns).view({rows, columns});
  return view;
}

}  // namespace chargpt
