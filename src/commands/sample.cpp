#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "chargpt/base/json.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/engine/model_logits.hpp"

namespace chargpt {
namespace {

/// Passes text on as it is generated: character by character on a terminal, else line by line.
class TextStream {
 public:
  bool put(std::string_view text) {
    pending_ += text;
    const bool flush = terminal_ || text.find('\n') != std::string_view::npos;
    return !flush || this->flush();
  }
  bool flush() {
    const bool open = write_output(pending_);
    pending_.clear();
    return open;
  }

 private:
  std::string pending_;
  bool terminal_ = isatty(STDOUT_FILENO) == 1;
};

struct Sampler {
  const Request& request;
  LoadedModel& loaded;
  std::vector<std::int32_t> prompt;
  NextLogits next;

  bool stopped() const { return request.stop_signal->load() != 0; }

  Generated draw(std::uint64_t seed, const std::function<bool(std::int32_t)>& emit) const {
    return generate(next, loaded.tokenizer, loaded.model->config().context, prompt, request.config.sample, seed,
                    [&](std::int32_t id) { return emit(id) && !stopped(); });
  }

  /// False when nobody reads any more.
  bool stream(std::uint64_t seed) const {
    TextStream out;
    bool open = out.put(request.config.sample.prompt);
    draw(seed, [&](std::int32_t id) { return open = open && out.put(loaded.tokenizer.symbol(id)); });
    return open && out.put("\n") && out.flush();
  }

  bool print_json(std::uint64_t seed) const {
    const Generated generated = draw(seed, [](std::int32_t) { return true; });
    Json line;
    line["text"] = loaded.tokenizer.decode(generated.ids);
    line["prompt"] = request.config.sample.prompt;
    line["seed"] = seed;
    line["finish"] = name(generated.finish);
    return write_output(to_json_line(line) + "\n");
  }
};

}  // namespace

int sample_command(const Request& request) {
  const SampleConfig& settings = request.config.sample;
  const OpenedModel opened = open_model(request.model);
  const ChosenDevice device = choose_device(request.config.run.device);
  LoadedModel loaded = load_model(opened.file, device.device, request.config.model.attention);
  if (!loaded.verified) spdlog::warn("warning: {} carries no checksum: it could not be verified", opened.chosen.file);
  const std::int64_t context = loaded.model->config().context;
  auto prompt = encode_prompt(settings.prompt, loaded.tokenizer, request.prompt_source);
  if (static_cast<std::int64_t>(prompt.size()) > context) {
    spdlog::warn("warning: {} has {} characters; the model sees its last {}", request.prompt_source, prompt.size(),
                 context);
  }
  const Sampler sampler{request, loaded, std::move(prompt), model_logits(loaded.model)};
  for (std::int64_t i = 0; i < settings.samples && !sampler.stopped(); ++i) {
    const auto seed = static_cast<std::uint64_t>(settings.seed + i);
    if (!request.json && settings.samples > 1 &&
        !write_output(fmt::format("{}--- seed {} ---\n", i == 0 ? "" : "\n", seed)))
      break;
    if (!(request.json ? sampler.print_json(seed) : sampler.stream(seed))) break;
  }
  return request.stop_signal->load() == 0 ? 0 : 128 + request.stop_signal->load();
}

}  // namespace chargpt
