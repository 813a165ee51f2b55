#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/engine_library.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/app/stop_signal.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/device_name.hpp"
#include "chargpt/base/file_reader.hpp"
#include "chargpt/base/memory.hpp"
#include "chargpt/base/model_file.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/signal_list.hpp"
#include "chargpt/kernels/decoder.hpp"
#include "chargpt/sampling/conversation.hpp"
#include "chargpt/sampling/prompts_file.hpp"

namespace chargpt {
namespace {

constexpr std::uint64_t kMaxPrompt = 64 << 20;  // bytes

void check_flags(const Arguments& arguments) {
  std::vector<std::string> given;
  if (arguments.prompt) given.emplace_back("--prompt");
  if (!arguments.prompt_file.empty()) given.emplace_back("--prompt-file");
  if (!arguments.prompts.empty()) given.emplace_back("--prompts");
  if (arguments.interactive) given.emplace_back("--interactive");
  if (given.size() > 1) {
    throw Error(ExitCode::usage, fmt::format("{} given: each says where prompts come from; give one of them",
                                             fmt::join(given, " and ")));
  }
  const auto is_given = [&](const char* flag) {
    return std::any_of(arguments.overrides.begin(), arguments.overrides.end(),
                       [&](const Override& override) { return override.flag == flag; });
  };
  if (is_given("--length") && is_given("--until-end-mark")) {
    throw Error(ExitCode::usage, "--length bounds a text, --until-end-mark does not: give one of them");
  }
}

/// A prompt is taken as it stands, so that text which is not UTF-8 is reported as bad data with its offset.
std::vector<SampleRequest> requests(const Arguments& arguments, SampleConfig settings) {
  if (!arguments.prompts.empty()) {
    return read_prompts(read_input(arguments.prompts, kMaxPrompt), input_name(arguments.prompts), settings);
  }
  if (!arguments.prompt_file.empty()) {
    settings.prompt = read_input(arguments.prompt_file, kMaxPrompt);
    return {{settings, input_name(arguments.prompt_file)}};
  }
  if (arguments.prompt) settings.prompt = *arguments.prompt;
  return {{settings, "--prompt"}};
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

SampleOutput output_of(const Arguments& arguments, const std::atomic<int>& stop) {
  return {.write = [](std::string_view text) { return write_output(text); },
          .stopped = [&stop] { return stop.load() != 0; },
          .warn = warn,
          .json = arguments.json || !arguments.prompts.empty(),
          .each_character = isatty(STDOUT_FILENO) == 1};
}

int write_requests(const SampledModel& model, const std::vector<SampleRequest>& asked, const SampleOutput& output,
                   const std::atomic<int>& stop) {
  write_samples(model, asked, output);
  return stop.load() == 0 ? 0 : 128 + stop.load();
}

/// Lines from standard input, until Ctrl-D; Ctrl-C (counted in `interrupts`) ends one text.
int talk(const SampledModel& model, const SampleConfig& settings, SampleOutput output, bool greet,
         const std::atomic<int>& interrupts) {
  int seen = 0;
  output.stopped = [&] { return interrupts.load() != seen; };
  const auto read_line = [&]() -> std::optional<std::string> {
    if (greet) write_message("> ");
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    seen = interrupts.load();
    return line;
  };
  if (greet) write_message("Type a line to have it continued, or /help.\n");
  converse(model, settings, {read_line, write_message, output});
  if (greet) write_message("\n");
  return 0;
}

/// As many as can be used: each stream of text goes through one thread.
int threads_for(const Config& config, const std::vector<SampleRequest>& asked) {
  const auto wanted = config.run.threads > 0 ? config.run.threads : std::int64_t{usable_threads()};
  const auto samples = std::accumulate(asked.begin(), asked.end(), std::int64_t{0}, [&](auto sum, const auto& request) {
    return std::min(wanted, sum + request.settings.samples);
  });
  return static_cast<int>(std::min(wanted, samples));
}

int sample_natively(const Request& request, int threads) {
  const OpenedModel opened = open_model(request.model);
  const ModelFile& file = opened.file;
  if (!file.verified()) warn(fmt::format("{} carries no checksum: it could not be verified", file.path()));
  AlignedVector<float> weights(static_cast<std::size_t>(file.layout().size()));
  file.copy_values(weights);
  ThreadPool pool(threads, request.config.run.pin);
  Decoder decoder(file.config(), file.tokenizer().size(), weights.data(), pool);
  const NextLogits next = [&](auto windows, auto logits, const auto& ready) { decoder.logits(windows, logits, ready); };
  const std::int64_t together =
      Decoder::streams_together(file.config(), file.tokenizer().size(), threads, last_level_cache());
  return request.sample({file.tokenizer(), file.config().context, next, together});
}

}  // namespace

int run_sample(const Arguments& arguments) {
  check_flags(arguments);
  refuse_without_effect(arguments, "sample", {"sample.", "run.", "model.attention", "data.format"});
  const ModelChoice model = choose_model_arguments(arguments);
  Request request = make_request(Command::sample, arguments, model_config(arguments, model));
  request.model = model;
  const SampleConfig& settings = request.config.sample;
  const std::vector<SampleRequest> asked = requests(arguments, settings);
  const std::atomic<int>& stop = arguments.interactive
                                     ? count_interrupts()
                                     : catch_stop_signals(parse_signal_list(request.config.run.stop_signals));
  request.stop_signal = &stop;
  const SampleOutput output = output_of(arguments, stop);
  const bool greet = !arguments.quiet && isatty(STDIN_FILENO) == 1;
  request.sample = [&](SampledModel sampled) {
    sampled.marked = begin_marks(request.config.data) != BeginMarks::none;
    return arguments.interactive ? talk(sampled, settings, output, greet, stop)
                                 : write_requests(sampled, asked, output, stop);
  };
  return wants_native(arguments, request.config) ? sample_natively(request, threads_for(request.config, asked))
                                                 : run_engine(request);
}

}  // namespace chargpt
