#include "chargpt/commands/eval_text.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "chargpt/base/run_folder.hpp"

namespace chargpt {
namespace {

Part parse_part(const std::string& text) {
  for (const Part part : {Part::train, Part::val, Part::test}) {
    if (text == name(part)) return part;
  }
  throw Error(ExitCode::usage, fmt::format("--split: got \"{}\", wanted train, val or test", text));
}

ScoredText run_part(const Request& request, const ChosenModel& chosen, const Tokenizer& tokenizer) {
  const Part part = parse_part(request.part);
  const Corpus corpus = run_corpus(request, chosen, tokenizer);
  if (corpus.part(part).documents() == 0) {
    throw Error(ExitCode::bad_data, fmt::format("{} has no {} split: data.{}_fraction is 0", chosen.run_folder,
                                                request.part, request.part));
  }
  return {corpus.part(part), {}, fmt::format("{}, split {}", request.config.data.path, request.part)};
}

void tell_unknown(const ScoredText& text, const EvalConfig& eval) {
  if (text.unknown.empty()) return;
  switch (eval.unknown) {
    case UnknownRule::error:
      throw Error(ExitCode::bad_data, text.describe_unknown() + "; to score the rest: --unknown skip or charge");
    case UnknownRule::skip:
      spdlog::warn("warning: {}; left out", text.describe_unknown());
      break;
    case UnknownRule::charge:
      spdlog::warn("warning: {}; charged {} nats each", text.describe_unknown(), eval.unknown_nats);
      break;
  }
}

}  // namespace

Corpus run_corpus(const Request& request, const ChosenModel& chosen, const Tokenizer& tokenizer) {
  if (chosen.run_folder.empty()) {
    throw Error(ExitCode::usage, "a lone model file has no data of its own: say which text to score with --data PATH");
  }
  Corpus corpus = load_corpus(request.config, tokenizer);
  const Manifest manifest = verify_checkpoint(RunPaths(chosen.run_folder).checkpoint(*chosen.step));
  if (corpus.fingerprint == manifest.data) return corpus;
  throw Error(
      ExitCode::bad_data,
      fmt::format(
          "{} is not the data that {} was trained on: {} bytes with XXH3-128 {}, wanted {} bytes with {}; use --data "
          "PATH to score another text",
          request.config.data.path, chosen.run_folder, corpus.fingerprint.bytes, corpus.fingerprint.hash,
          manifest.data.bytes, manifest.data.hash));
}

ScoredText text_to_score(const Request& request, const ChosenModel& chosen, const Tokenizer& tokenizer) {
  if (request.data_path.empty()) return run_part(request, chosen, tokenizer);
  DataConfig data = request.config.data;  // whatever it says, the text is read as the model's was
  data.normalize = tokenizer.normalization();
  if (tokenizer.is_bytes()) data = {.format = DataFormat::bytes};
  ScoredText text = encode_for_scoring(read_documents(request.data_path, data), tokenizer);
  tell_unknown(text, request.config.eval);
  return text;
}

}  // namespace chargpt
