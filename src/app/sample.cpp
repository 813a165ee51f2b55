#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/engine_library.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/app/stop_signal.hpp"
#include "chargpt/base/device_name.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/model_file.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/signal_list.hpp"
#include "chargpt/kernels/decoder.hpp"
#include "chargpt/sampling/sample_writer.hpp"

namespace chargpt {
namespace {

constexpr std::uint64_t kMaxPrompt = 64 << 20;    // bytes
constexpr std::int64_t kStreamBytes = 512 << 20;  // of keys and values of all samples that are drawn together

std::string read_prompt(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  return read_file(path, kMaxPrompt);
}

/// The prompt is taken as it stands, so that text which is not UTF-8 is reported as bad data with its offset.
void set_prompt(const Arguments& arguments, Request& request) {
  if (arguments.prompt && !arguments.prompt_file.empty()) {
    throw Error(ExitCode::usage, "--prompt and --prompt-file both given: give one of them");
  }
  if (arguments.prompt) request.config.sample.prompt = *arguments.prompt;
  if (arguments.prompt_file.empty()) return;
  request.config.sample.prompt = read_prompt(arguments.prompt_file);
  request.prompt_source = arguments.prompt_file == "-" ? "the prompt on standard input" : arguments.prompt_file;
}

/// Whether the kernels of this program do the work; otherwise LibTorch's modules do.
bool wants_native(const Arguments& arguments, const Config& config) {
  const std::string& engine = arguments.engine;
  const bool cuda = parse_device_name(config.run.device).kind == DeviceName::Kind::cuda;
  if (engine == "torch") return false;
  if (engine.empty()) return !cuda;
  if (engine != "native")
    throw Error(ExitCode::usage, fmt::format("--engine: got \"{}\", wanted native or torch", engine));
  if (cuda) {
    throw Error(ExitCode::usage, fmt::format("--engine native computes on the CPU, but run.device is \"{}\"; use "
                                             "--engine torch or --device cpu",
                                             config.run.device));
  }
  return true;
}

void warn(const std::string& message) { write_message(fmt::format("warning: {}\n", message)); }

/// As many as can be used: each stream of text goes through one thread.
int threads_for(const Config& config) {
  const auto wanted = config.run.threads > 0 ? config.run.threads : std::int64_t{usable_threads()};
  return static_cast<int>(std::min(wanted, config.sample.samples));
}

int sample_natively(Request request) {
  const std::atomic<int>& stop = catch_stop_signals(parse_signal_list(request.config.run.stop_signals));
  const SampleConfig& settings = request.config.sample;
  const OpenedModel opened = open_model(request.model);
  const ModelFile& file = opened.file;
  if (!file.verified()) warn(fmt::format("{} carries no checksum: it could not be verified", file.path()));
  AlignedVector<float> weights(static_cast<std::size_t>(file.layout().size()));
  file.copy_values(weights);
  const Tokenizer& tokenizer = file.tokenizer();
  const auto prompt = encode_prompt(settings.prompt, tokenizer, request.prompt_source);
  const std::int64_t context = file.config().context;
  if (static_cast<std::int64_t>(prompt.size()) > context) {
    warn(
        fmt::format("{} has {} characters; the model sees its last {}", request.prompt_source, prompt.size(), context));
  }
  ThreadPool pool(threads_for(request.config), request.config.run.pin);
  Decoder decoder(file.config(), tokenizer.size(), weights.data(), pool);
  const NextLogits next = [&](auto windows, auto logits) { decoder.logits(windows, logits); };
  const auto together =
      std::clamp<std::int64_t>(kStreamBytes / static_cast<std::int64_t>(decoder.stream_bytes()), 1, 64);
  write_samples({tokenizer, context, next, together}, prompt, settings,
                {[](std::string_view text) { return write_output(text); }, [&] { return stop.load() != 0; },
                 request.json, isatty(STDOUT_FILENO) == 1});
  return stop.load() == 0 ? 0 : 128 + stop.load();
}

}  // namespace

int run_sample(const Arguments& arguments) {
  const ModelChoice model = choose_model_arguments(arguments);
  Request request = make_request(Command::sample, arguments, model_config(arguments, model));
  request.model = model;
  set_prompt(arguments, request);
  return wants_native(arguments, request.config) ? sample_natively(std::move(request)) : run_engine(std::move(request));
}

}  // namespace chargpt
