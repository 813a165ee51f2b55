#include "chargpt/nn/flat_parameters.hpp"

#include <torch/types.h>
#include <torch/utils.h>

#include <cstring>

namespace chargpt {

FlatParameters::FlatParameters(ParameterLayout layout, const torch::OrderedDict<std::string, torch::Tensor>& parameters,
                               const torch::TensorOptions& options)
    : layout_(std::move(layout)) {
  const torch::NoGradGuard no_grad;
  values_ = torch::empty({layout_.size()}, options);
  gradients_ = torch::zeros({layout_.size()}, options);
  for (const Entry& entry : entries()) {
    const torch::Tensor& parameter = parameters[entry.name];
    const torch::Tensor view = values_.narrow(0, entry.offset, entry.count).view(entry.shape);
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradients_.narrow(0, entry.offset, entry.count).view(entry.shape);
  }
}

void FlatParameters::zero_gradients() {
  // LibTorch would wake its own threads for this, and have them spin beside ours.
  if (gradients_.device().is_cpu()) {
    std::memset(gradients_.mutable_data_ptr(), 0, gradients_.nbytes());
  } else {
    gradients_.zero_();
  }
}

torch::Tensor FlatParameters::leaf(std::int64_t offset, std::int64_t rows, std::int64_t columns) const {
  torch::Tensor view = values_.narrow(0, offset, rows * columns).view({rows, columns}).detach();
  view.requires_grad_(true);
  view.mutable_grad() = gradients_.narrow(0, offset, rows * columns).view({rows, columns});
  return view;
}

}  // namespace chargpt
