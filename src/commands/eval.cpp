#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/evaluator.hpp"
#include "chargpt/engine/model_file.hpp"

namespace chargpt {
namespace {

Part parse_part(const std::string& text) {
  for (const Part part : {Part::train, Part::val, Part::test}) {
    if (text == name(part)) return part;
  }
  throw Error(ExitCode::usage, fmt::format("--split: got \"{}\", wanted train, val or test", text));
}

/// The run's own split, cut from the run's own data again.
ScoredText run_part(const Request& request, const ChosenModel& chosen, const Tokenizer& tokenizer) {
  if (chosen.run_folder.empty()) {
    throw Error(ExitCode::usage, "a lone model file has no data of its own: say which text to score with --data PATH");
  }
  Corpus corpus = load_corpus(request.config, tokenizer);
  const Manifest manifest = verify_checkpoint(RunPaths(chosen.run_folder).checkpoint(*chosen.step));
  if (corpus.fingerprint != manifest.data) {
    throw Error(
        ExitCode::bad_data,
        fmt::format(
            "{} is not the data that {} was trained on: {} bytes with XXH3-128 {}, wanted {} bytes with {}; use --data "
            "PATH to score another text",
            request.config.data.path, chosen.run_folder, corpus.fingerprint.bytes, corpus.fingerprint.hash,
            manifest.data.bytes, manifest.data.hash));
  }
  const Part part = parse_part(request.part);
  if (corpus.part(part).documents() == 0) {
    throw Error(ExitCode::bad_data, fmt::format("{} has no {} split: data.{}_fraction is 0", chosen.run_folder,
                                                request.part, request.part));
  }
  return {corpus.part(part), 0, ""};
}

ScoredText text_to_score(const Request& request, const ChosenModel& chosen, const Tokenizer& tokenizer) {
  if (request.data_path.empty()) return run_part(request, chosen, tokenizer);
  ScoredText text = encode_for_scoring(
      read_documents(request.data_path, request.config.data.format, request.config.data.field), tokenizer);
  if (text.unknown_characters > 0) {
    spdlog::warn("warning: {} characters of {} are not in the vocabulary and were left out: {}",
                 text.unknown_characters, request.data_path, text.unknown_sample);
  }
  return text;
}

std::string report(const Evaluation& e, const ScoredText& text, const std::string& what, bool json,
                   std::optional<std::int64_t> step) {
  Json result;
  result["nats_per_char"] = e.nats_per_char();
  result["perplexity"] = e.perplexity();
  result["bits_per_char"] = e.bits_per_char();
  result["bits_per_byte"] = e.bits_per_byte();
  result["characters"] = e.characters;
  result["unknown_characters"] = text.unknown_characters;
  result["mode"] = "windows";
  result["step"] = step ? Json(*step) : Json(nullptr);
  if (json) return to_json_line(result) + "\n";
  std::string lines = what + "\n";
  for (const auto& [key, value] : result.items()) {
    lines += fmt::format("  {:<20}{}\n", key,
                         value.is_number_float() ? fmt::format("{:.7g}", value.get<double>())
                         : value.is_string()     ? value.get<std::string>()
                                                 : value.dump());
  }
  return lines;
}

}  // namespace

int eval_command(const Request& request) {
  keep_freed_memory();
  const ChosenModel chosen = open_chosen_model(request.model);
  const ChosenDevice device = choose_device(request.config.run.device);
  LoadedModel loaded = load_model(chosen.file, device.device, request.config.model.attention);
  if (!loaded.verified) spdlog::warn("warning: {} carries no checksum: it could not be verified", chosen.file.path());
  const ScoredText text = text_to_score(request, chosen, loaded.tokenizer);
  const auto stopped = [&] { return request.stop_signal->load() != 0; };
  const Evaluation evaluation =
      evaluate(loaded.model, loaded.tokenizer, text.split, request.config.eval.batch, stopped);
  if (stopped()) return 128 + request.stop_signal->load();
  if (evaluation.characters == 0) {
    throw Error(ExitCode::bad_data,
                fmt::format("{} has no character to score: each needs one before it", request.data_path));
  }
  const std::string what = request.data_path.empty() ? fmt::format("{}, split {}", chosen.file.path(), request.part)
                                                     : fmt::format("{} on {}", chosen.file.path(), request.data_path);
  write_output(report(evaluation, text, what, request.json, chosen.step));
  return 0;
}

}  // namespace chargpt
