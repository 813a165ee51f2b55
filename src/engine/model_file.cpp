#include "chargpt/engine/model_file.hpp"

#include <torch/types.h>
#include <torch/utils.h>

namespace chargpt {

std::span<float> numbers(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

WrittenFile save_model(const std::string& path, CharGPT& model, const Tokenizer& tokenizer) {
  const torch::Tensor values = model->flat().values().cpu();
  return write_model_file(path, model->config(), tokenizer, numbers(values));
}

LoadedModel load_model(const ModelFile& file, torch::Device device, AttentionPath path_of_attention) {
  ModelConfig config = file.config();
  config.attention = path_of_attention;
  LoadedModel loaded{CharGPT(config, file.tokenizer().size(), torch::TensorOptions(torch::kFloat).device(device)),
                     file.tokenizer(), file.verified()};
  const torch::Tensor values = torch::empty({file.layout().size()}, torch::kFloat);
  file.copy_values(numbers(values));
  const torch::NoGradGuard no_grad;
  loaded.model->flat().values().copy_(values);
  return loaded;
}

}  // namespace chargpt
