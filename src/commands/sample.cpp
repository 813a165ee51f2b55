#include <spdlog/spdlog.h>

#include "chargpt/base/model_choice.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/engine/model_logits.hpp"

namespace chargpt {

int sample_command(const Request& request) {
  set_threads(request.config.run.threads);
  const OpenedModel opened = open_model(request.model);
  const ChosenDevice device = choose_device(request.config.run.device);
  LoadedModel loaded = load_model(opened.file, device.device, request.config.model.attention);
  if (!loaded.verified) spdlog::warn("warning: {} carries no checksum: it could not be verified", opened.chosen.file);
  return request.sample({loaded.tokenizer, loaded.model->config().context, model_logits(loaded.model)});
}

}  // namespace chargpt
