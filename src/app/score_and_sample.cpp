#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/engine_library.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/base/file.hpp"

namespace chargpt {
namespace {

constexpr std::uint64_t kMaxPrompt = 64 << 20;  // bytes

/// The config of the run whose model is meant; a lone model file has none.
Config config_of(const Arguments& arguments, const ModelChoice& model) {
  Json base = model.folder.empty() ? Json(nullptr) : stored_config(model.folder);
  if (!base.is_null() && !arguments.data.empty()) base["data"]["format"] = "auto";  // another file is of its own format
  Config config = resolve_config(arguments, base, model.folder).config;
  check_rules(config);
  return config;
}

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

PartKind parse_parts(const std::string& text) {
  if (text.empty()) return PartKind::none;
  if (text == "document") return PartKind::document;
  if (text == "line") return PartKind::line;
  if (text == "class") return PartKind::character_class;
  throw Error(ExitCode::usage, fmt::format("--by: got \"{}\", wanted document, line or class", text));
}

/// What eval adds to the one number, and what it needs for that.
void set_reports(const Arguments& arguments, Request& request) {
  const EvalConfig& eval = request.config.eval;
  request.per_char = arguments.per_char;
  request.by = parse_parts(arguments.by);
  request.baselines = arguments.baselines;
  if (request.baselines && request.model.folder.empty()) {
    throw Error(ExitCode::usage,
                "--baselines learn from the run's training text: they go with --run, not with --model");
  }
  if (!request.per_char.empty() && request.model.checkpoint == "all") {
    throw Error(ExitCode::usage, "--per-char writes about one model: name it with --checkpoint best, last or a step");
  }
  if (arguments.compare.empty()) return;
  if (eval.mode == EvalMode::random || (eval.mode == EvalMode::windows && eval.stride > 0)) {
    throw Error(ExitCode::usage,
                "--compare needs every character scored once: --mode windows (without a stride) or sliding");
  }
  const bool folder = std::filesystem::is_directory(arguments.compare);
  request.compare = folder ? ModelChoice{arguments.compare, "", ""} : ModelChoice{"", arguments.compare, ""};
}

}  // namespace

int run_sample(const Arguments& arguments) {
  const ModelChoice model = choose_model_arguments(arguments);
  Request request = make_request(Command::sample, arguments, config_of(arguments, model));
  request.model = model;
  set_prompt(arguments, request);
  return run_engine(request);
}

int run_eval(const Arguments& arguments) {
  if (!arguments.data.empty() && !arguments.split.empty()) {
    throw Error(ExitCode::usage, "--data scores another text, --split a part of the run's own data: give one of them");
  }
  const ModelChoice model = choose_model_arguments(arguments);
  Request request = make_request(Command::eval, arguments, config_of(arguments, model));
  request.model = model;
  request.data_path = arguments.data;
  if (!arguments.split.empty()) request.part = arguments.split;
  set_reports(arguments, request);
  return run_engine(request);
}

int run_explain(const Arguments& arguments) {
  if (!arguments.text) throw Error(ExitCode::usage, "what should the model look at? Give --text TEXT");
  const ModelChoice model = choose_model_arguments(arguments);
  Request request = make_request(Command::explain, arguments, config_of(arguments, model));
  request.model = model;
  request.text = *arguments.text;
  request.block = arguments.block;
  request.svg_folder = arguments.svg;
  return run_engine(request);
}

int run_bench(const Arguments& arguments) {
  const Config config = resolve_config(arguments).config;
  check_rules(config);
  Request request = make_request(Command::bench, arguments, config);
  request.bench_seconds = arguments.seconds;
  return run_engine(request);
}

}  // namespace chargpt
