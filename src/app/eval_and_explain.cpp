#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/engine_library.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/base/data_files.hpp"
#include "chargpt/base/output.hpp"

namespace chargpt {
namespace {

PartKind parse_parts(const std::string& text) {
  if (text.empty()) return PartKind::none;
  if (text == "document") return PartKind::document;
  if (text == "line") return PartKind::line;
  if (text == "class") return PartKind::character_class;
  throw Error(ExitCode::usage, fmt::format("--by: got \"{}\", wanted document, line or class", text));
}

/// A file that is read, or that belongs to a run, is not written over by a slip of the hand.
void require_apart(const std::string& output, const Arguments& arguments, const Request& request) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // what is not there yet is no input
  if (!fs::exists(output, ignored)) return;
  const DataConfig& data = request.config.data;
  bool input = false;
  for (const std::string& path :
       {request.model.file, arguments.data, arguments.compare, data.path, data.val_path, data.test_path}) {
    input = input || (!path.empty() && is_data_file(output, path));
  }
  for (const std::string& folder : {request.model.folder, arguments.compare}) {
    if (folder.empty() || !fs::is_directory(folder, ignored)) continue;
    const std::string inside = fs::canonical(folder, ignored).string() + "/";
    input = input || fs::canonical(output, ignored).string().starts_with(inside);
  }
  if (!input) return;
  throw Error(ExitCode::usage,
              fmt::format("--per-char {}: that file is one of the run's or one that is read, and would "
                          "be overwritten; name another",
                          output));
}

/// Characters that count several times, or not at all, can be neither paired nor weighed against unknown ones.
void require_each_once(const char* what, const EvalConfig& eval) {
  const bool once = eval.mode == EvalMode::sliding || (eval.mode == EvalMode::windows && eval.stride == 0);
  if (once) return;
  throw Error(ExitCode::usage,
              fmt::format("{} needs every character scored once, but eval.mode = {} and eval.stride = {}: use --mode "
                          "windows (without a stride) or sliding",
                          what, name(eval.mode), eval.stride));
}

/// Warns of what was asked for and changes nothing in this mode.
void warn_idle_keys(const Arguments& arguments, const EvalConfig& eval) {
  const auto warn = [&](const char* key) {
    write_message(fmt::format("warning: eval.{} changes nothing with eval.mode = {}\n", key, name(eval.mode)));
  };
  const bool random = eval.mode == EvalMode::random;
  const bool windows_given = std::any_of(arguments.overrides.begin(), arguments.overrides.end(),
                                         [](const Override& override) { return override.key == "eval.windows"; });
  if (random && eval.stride > 0) warn("stride");
  if (!random && windows_given) warn("windows");
}

/// What eval adds to the one number, and what it needs for that.
void set_reports(const Arguments& arguments, Request& request) {
  const EvalConfig& eval = request.config.eval;
  request.per_char = arguments.per_char;
  if (!request.per_char.empty()) require_apart(request.per_char, arguments, request);
  request.by = parse_parts(arguments.by);
  request.baselines = arguments.baselines;
  if (request.baselines && request.model.folder.empty()) {
    throw Error(ExitCode::usage,
                "--baselines learn from the run's training text: they go with --run, not with --model");
  }
  if (!request.per_char.empty() && request.model.checkpoint == "all") {
    throw Error(ExitCode::usage, "--per-char writes about one model: name it with --checkpoint best, last or a step");
  }
  if (eval.unknown == UnknownRule::charge) require_each_once("--unknown charge", eval);
  if (arguments.compare.empty()) return;
  require_each_once("--compare", eval);
  const bool folder = std::filesystem::is_directory(arguments.compare);
  request.compare =
      folder ? ModelChoice{arguments.compare, "", "", request.model.weights} : ModelChoice{"", arguments.compare, ""};
}

BenchPart parse_bench_part(const std::string& word) {
  if (word.empty()) return BenchPart::all;
  if (word == "training") return BenchPart::training;
  if (word == "sampling") return BenchPart::sampling;
  throw Error(ExitCode::usage, fmt::format("--only: got \"{}\", wanted training or sampling", word));
}

}  // namespace

int run_eval(const Arguments& arguments) {
  if (!arguments.data.empty() && !arguments.split.empty()) {
    throw Error(ExitCode::usage, "--data scores another text, --split a part of the run's own data: give one of them");
  }
  refuse_without_effect(arguments, "eval", {"eval.", "data.", "run.", "model.attention"});
  const ModelChoice model = choose_model_arguments(arguments);
  Request request = make_request(Command::eval, arguments, model_config(arguments, model));
  warn_idle_keys(arguments, request.config.eval);
  request.model = model;
  request.data_path = arguments.data;
  if (!arguments.split.empty()) request.part = arguments.split;
  set_reports(arguments, request);
  return run_engine(request);
}

int run_explain(const Arguments& arguments) {
  if (!arguments.text) throw Error(ExitCode::usage, "what should the model look at? Give --text TEXT");
  refuse_without_effect(arguments, "explain", {"run.", "model.attention"});
  const ModelChoice model = choose_model_arguments(arguments);
  Request request = make_request(Command::explain, arguments, model_config(arguments, model));
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
  request.bench_part = parse_bench_part(arguments.bench_part);
  if (arguments.vocabulary) request.bench_vocabulary = *arguments.vocabulary;
  return run_engine(request);
}

}  // namespace chargpt
