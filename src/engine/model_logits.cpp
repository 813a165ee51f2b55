#include "chargpt/engine/model_logits.hpp"

#include <torch/torch.h>

#include <algorithm>

namespace chargpt {

NextLogits model_logits(CharGPT model) {
  return [model](std::span<const std::int32_t> ids, std::span<double> logits) mutable {
    const torch::NoGradGuard no_grad;
    torch::Tensor window = torch::empty({1, static_cast<std::int64_t>(ids.size())}, torch::kLong);
    std::copy(ids.begin(), ids.end(), window.data_ptr<std::int64_t>());
    const torch::Tensor row = model->next_logits(window.to(model->device())).to(torch::kDouble).cpu();
    std::copy_n(row.const_data_ptr<double>(), logits.size(), logits.begin());
  };
}

}  // namespace chargpt
