#include "chargpt/engine/model_logits.hpp"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <memory>

#include "chargpt/kernels/decoder.hpp"

namespace chargpt {

NextLogits model_logits(CharGPT model) {
  return [model](std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) mutable {
    const torch::NoGradGuard no_grad;
    const std::size_t V = logits.size() / windows.size();
    for (std::size_t i = 0; i < windows.size(); ++i) {
      torch::Tensor window = torch::empty({1, static_cast<std::int64_t>(windows[i].ids.size())}, torch::kLong);
      std::copy(windows[i].ids.begin(), windows[i].ids.end(), window.data_ptr<std::int64_t>());
      const torch::Tensor row = model->next_logits(window.to(model->device())).to(torch::kFloat).cpu();
      std::copy_n(row.const_data_ptr<float>(), V, logits.begin() + static_cast<std::ptrdiff_t>(i * V));
      ready(i);
    }
  };
}

NextLogits model_logits(Passes& passes) {
  if (passes.path() != AttentionPath::native) return model_logits(passes.model());
  const CharGPT& model = passes.model();
  const auto decoder = std::make_shared<Decoder>(
      model->config(), model->vocabulary(), passes.model()->flat().values().const_data_ptr<float>(), passes.pool());
  return [decoder](std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
    decoder->logits(windows, logits, ready);
  };
}

}  // namespace chargpt
