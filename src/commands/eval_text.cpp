#include "chargpt/commands/eval_text.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "chargpt/base/memory.hpp"
#include "chargpt/base/preparation_line.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

Part parse_part(const std::string& text) {
  for (const Part part : {Part::train, Part::val, Part::test}) {
    if (text == name(part)) return part;
  }
  throw Error(ExitCode::usage, fmt::format("--split: got \"{}\", wanted train, val or test", text));
}

/// The characters of a split as documents again.
Documents decode(const Split& split, const Tokenizer& tokenizer, const std::string& source) {
  Documents documents{{}, tokenizer.has_end_mark(), source};
  std::u32string text;
  split.for_each_document_piece([&](std::span<const std::int32_t> ids, bool ended) {
    for (const std::int32_t id : ids) {
      if (!tokenizer.is_mark(id)) text += decode_utf8(tokenizer.as_utf8(tokenizer.symbol(id)), source);
    }
    if (ended) documents.texts.push_back(std::exchange(text, {}));
  });
  return documents;
}

/// --data, as `data` says it is to be read.
ScoredText other_text(const Request& request, const Tokenizer& tokenizer, const DataConfig& data) {
  TextReader text(request.data_path, data);
  PreparationLine line(request.color, request.verbosity < 0, "reading");
  const PreparationEvents events = line.events([&] { return request.stop_signal->load() != 0; });
  return read_for_scoring(text, tokenizer, data, request.config.run.threads, events, [] { return available_memory(); });
}

ScoredText run_part(const Request& request, const ChosenModel& run, const Tokenizer& of_run,
                    const Tokenizer& tokenizer) {
  const Part part = parse_part(request.part);
  const Corpus corpus = run_corpus(request, run, of_run);
  if (corpus.part(part).documents() == 0) {
    throw Error(ExitCode::bad_data,
                fmt::format("{} has no {} split: data.{}_fraction is 0", run.run_folder, request.part, request.part));
  }
  const std::string source = fmt::format("{}, split {}", request.config.data.path, request.part);
  if (tokenizer == of_run) return {corpus.part(part), {}, source, begin_marks(request.config.data)};
  return encode_for_scoring(decode(corpus.part(part), of_run, source), tokenizer, request.config.data);
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
  PreparationLine line(request.color, request.verbosity < 0);
  const PreparationEvents events = line.events([&] { return request.stop_signal->load() != 0; });
  Corpus corpus = load_corpus(request.config, tokenizer, events);
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

ScoredText text_to_score(const Request& request, const ChosenModel& run, const Tokenizer& of_run,
                         const Tokenizer& tokenizer) {
  DataConfig data = request.config.data;  // whatever it says, the text is read as the model's was
  data.normalize = tokenizer.normalization();
  if (tokenizer.is_bytes()) data = {.format = DataFormat::bytes};
  ScoredText text =
      request.data_path.empty() ? run_part(request, run, of_run, tokenizer) : other_text(request, tokenizer, data);
  tell_unknown(text, request.config.eval);
  return text;
}

}  // namespace chargpt
