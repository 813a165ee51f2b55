#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "chargpt/base/model_choice.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/engine/model_logits.hpp"
#include "chargpt/sampling/sample_writer.hpp"

namespace chargpt {
int sample_command(const Request& request) {
  const SampleConfig& settings = request.config.sample;
  set_threads(request.config.run.threads);
  const OpenedModel opened = open_model(request.model);
  const ChosenDevice device = choose_device(request.config.run.device);
  LoadedModel loaded = load_model(opened.file, device.device, request.config.model.attention);
  if (!loaded.verified) spdlog::warn("warning: {} carries no checksum: it could not be verified", opened.chosen.file);
  const std::int64_t context = loaded.model->config().context;
  const auto prompt = encode_prompt(settings.prompt, loaded.tokenizer, request.prompt_source);
  if (static_cast<std::int64_t>(prompt.size()) > context) {
    spdlog::warn("warning: {} has {} characters; the model sees its last {}", request.prompt_source, prompt.size(),
                 context);
  }
  write_samples({loaded.tokenizer, context, model_logits(loaded.model)}, prompt, settings,
                {[](std::string_view text) { return write_output(text); },
                 [&] { return request.stop_signal->load() != 0; }, request.json, isatty(STDOUT_FILENO) == 1});
  return request.stop_signal->load() == 0 ? 0 : 128 + request.stop_signal->load();
}

}  // namespace chargpt
