#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "chargpt/base/bootstrap.hpp"
#include "chargpt/base/model_choice.hpp"
#include "chargpt/base/ngram.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/table.hpp"
#include "chargpt/base/utf8.hpp"
#include "chargpt/commands/char_reports.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/commands/eval_text.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/evaluator.hpp"
#include "chargpt/engine/model_file.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kBaselineOrder = 5;
constexpr std::int64_t kBootstrapBlock = 100;  // characters
constexpr std::int64_t kBootstrapBlocks = 20;  // at least, as long as there are characters enough

/// A model with the text it is to score.
struct Subject {
  ChosenModel chosen;
  LoadedModel loaded;
  ScoredText text;
};

std::string units(const Tokenizer& tokenizer) {
  if (tokenizer.is_bytes()) return "bytes";
  return fmt::format("characters (data.normalize {})", name(tokenizer.normalization()));
}

/// What one model calls a character has to be one for the other.
void require_same_units(const OpenedModel& other, const Tokenizer& tokenizer, const Subject& first) {
  const std::string mine = units(first.loaded.tokenizer), others = units(tokenizer);
  if (mine == others) return;
  throw Error(
      ExitCode::usage,
      fmt::format("--compare: {} reads {} and {} reads {}, which cannot be paired; evaluate each and compare their "
                  "bits_per_byte",
                  first.chosen.file, mine, other.chosen.file, others));
}

/// `first`: the model whose run's data is scored, unless --data names another; without it, this one.
Subject load_subject(const Request& request, const OpenedModel& opened, const Subject* first = nullptr) {
  const ChosenModel& chosen = opened.chosen;
  const ChosenDevice device = choose_device(request.config.run.device);
  LoadedModel loaded = load_model(opened.file, device.device, request.config.model.attention);
  if (!loaded.verified) spdlog::warn("warning: {} carries no checksum: it could not be verified", chosen.file);
  if (first != nullptr) require_same_units(opened, loaded.tokenizer, *first);
  const Tokenizer& of_run = first == nullptr ? loaded.tokenizer : first->loaded.tokenizer;
  ScoredText text = text_to_score(request, first == nullptr ? chosen : first->chosen, of_run, loaded.tokenizer);
  return {chosen, std::move(loaded), std::move(text)};
}

Evaluation evaluate_subject(const Request& request, Subject& subject,
                            const std::function<void(const CharScore&)>& each) {
  const EvaluationWindows windows(subject.text.split, subject.loaded.model->config().context, request.config.eval,
                                  static_cast<std::uint64_t>(request.config.run.seed),
                                  static_cast<std::uint64_t>(subject.chosen.step.value_or(0)));
  if (windows.empty()) {
    throw Error(
        ExitCode::bad_data,
        fmt::format("{} has nothing to score: windows and sliding need a document of 2 characters, random and "
                    "windows with a stride one of {} (model.context + 1); got --mode {}",
                    subject.text.source, subject.loaded.model->config().context + 1, name(request.config.eval.mode)));
  }
  const auto stopped = [&] { return request.stop_signal->load() != 0; };
  Passes passes(subject.loaded.model, request.config.run);
  const Evaluation evaluation =
      evaluate(passes, subject.loaded.tokenizer, subject.text.split, windows, request.config.eval.batch, stopped, each);
  if (std::isfinite(evaluation.nats)) return evaluation;
  throw Error(ExitCode::unusable_model,
              fmt::format("{} gives a loss that is not finite: its weights are unusable", subject.chosen.file));
}

/// What was scored of a text is not to be taken for all of it.
void finish(PerCharFile& file, const Request& request) {
  if (request.stop_signal->load() == 0) return file.close();
  spdlog::warn("warning: {} {}", request.per_char,
               file.stop() ? "got only the characters that were scored before the stop"
                           : "is not written, since the evaluation was stopped");
}

/// Scores with what was asked for about single characters: a file, a table of parts.
Evaluation evaluate_with_reports(const Request& request, Subject& subject, PartTable& parts) {
  std::optional<PerCharFile> file;
  if (!request.per_char.empty()) file.emplace(request.per_char, subject.text, subject.loaded.tokenizer);
  std::function<void(const CharScore&)> each;
  if (file || request.by != PartKind::none) {
    each = [&](const CharScore& score) {
      if (file) file->add(score);
      parts.add(score);
    };
  }
  Evaluation evaluation = evaluate_subject(request, subject, each);
  if (request.config.eval.unknown == UnknownRule::charge) {
    const double nats = request.config.eval.unknown_nats;
    for (const UnknownCharacter& character : subject.text.unknown) {
      evaluation.nats += nats;
      ++evaluation.characters;
      evaluation.bytes += static_cast<std::int64_t>(encode_utf8(character.code_point).size());
      if (file) file->add(character, nats);
      parts.add(character, nats);
    }
  }
  if (file) finish(*file, request);
  return evaluation;
}

/// What simpler models score on the same characters, in every mode from all that comes before them.
Json baselines(const Request& request, const Subject& subject) {
  const Tokenizer& tokenizer = subject.loaded.tokenizer;
  const Corpus corpus = run_corpus(request, subject.chosen, tokenizer);
  const auto score = [&](std::int64_t order) {
    return NGram(order, corpus.train, tokenizer.size()).nats_per_char(subject.text.split);
  };
  return {
      {"uniform", score(0)}, {"unigram", score(1)}, {fmt::format("{}-gram", kBaselineOrder), score(kBaselineOrder)}};
}

/// The nats of every scored character, in the order of the text.
std::vector<std::pair<Place, double>> nats_by_place(const Request& request, Subject& subject) {
  std::vector<std::pair<Place, double>> nats;
  evaluate_subject(request, subject,
                   [&](const CharScore& score) { nats.emplace_back(subject.text.place(score.index), score.nats); });
  return nats;
}

/// The other model's nats less this one's, over the characters that both scored: above 0, this one is better.
std::vector<double> paired_differences(const std::vector<std::pair<Place, double>>& mine,
                                       const std::vector<std::pair<Place, double>>& others) {
  const auto key = [](const Place& place) { return std::tuple(place.document, place.offset); };
  std::vector<double> differences;
  auto other = others.begin();
  for (const auto& [place, nats] : mine) {
    while (other != others.end() && key(other->first) < key(place)) ++other;
    if (other == others.end()) break;
    if (key(other->first) == key(place)) differences.push_back(other->second - nats);
  }
  return differences;
}

Json comparison(const Request& request, Subject& subject) {
  Subject other = load_subject(request, open_model(*request.compare), &subject);
  const auto differences = paired_differences(nats_by_place(request, subject), nats_by_place(request, other));
  if (differences.empty()) {
    throw Error(ExitCode::bad_data,
                fmt::format("{} and {} scored no character in common", subject.chosen.file, other.chosen.file));
  }
  const auto count = static_cast<std::int64_t>(differences.size());
  const std::int64_t block = std::clamp(count / kBootstrapBlocks, std::int64_t{1}, kBootstrapBlock);
  const MeanInterval interval = bootstrap_mean(differences, block, static_cast<std::uint64_t>(request.config.run.seed));
  return {{"with", other.chosen.file},
          {"characters", count},
          {"difference", interval.mean},
          {"low", interval.low},
          {"high", interval.high}};
}

/// Characters from window to window, as far as the mode has that.
Json stride(const EvalConfig& eval, std::int64_t context) {
  switch (eval.mode) {
    case EvalMode::windows:
      return eval.stride == 0 ? context : eval.stride;
    case EvalMode::sliding:
      return sliding_stride(eval, context);
    case EvalMode::random:
      break;
  }
  return nullptr;
}

/// docs/formats.md describes it; without its version. Null when the evaluation was stopped.
Json result(const Request& request, const OpenedModel& opened) {
  Subject subject = load_subject(request, opened);
  PartTable parts(request.by, subject.text, subject.loaded.tokenizer);
  const Evaluation e = evaluate_with_reports(request, subject, parts);
  if (request.stop_signal->load() != 0) return nullptr;
  const EvalConfig& eval = request.config.eval;
  Json json = {{"model", opened.chosen.file},
               {"text", subject.text.source},
               {"step", opened.chosen.step ? Json(*opened.chosen.step) : Json(nullptr)},
               {"nats_per_char", e.nats_per_char()},
               {"standard_error", eval.mode == EvalMode::random ? Json(e.standard_error()) : Json(nullptr)},
               {"perplexity", e.perplexity()},
               {"bits_per_char", e.bits_per_char()},
               {"bits_per_byte", e.bits_per_byte()},
               {"characters", e.characters},
               {"bytes", e.bytes},
               {"unknown_characters", subject.text.unknown.size()},
               {"unknown", name(eval.unknown)},
               {"mode", name(eval.mode)},
               {"stride", stride(eval, subject.loaded.model->config().context)}};
  if (request.by != PartKind::none) json["parts"] = parts.rows();
  if (request.baselines) json["baselines"] = baselines(request, subject);
  if (request.compare) json["comparison"] = comparison(request, subject);
  return json;
}

/// What was asked for besides the score.
std::string extras(const Json& result) {
  std::string text;
  if (result.contains("parts")) text += fmt::format("\n{}", to_table(result["parts"]));
  if (result.contains("baselines")) {
    text += fmt::format("\nnats per character of simpler models\n{}", to_lines(result["baselines"]));
  }
  if (result.contains("comparison")) {
    text += fmt::format(
        "\nthe other model's nats per character less this one's, with a 95 % interval (above 0: this one is "
        "better)\n{}",
        to_lines(result["comparison"]));
  }
  return text;
}

std::string report(const Json& result) { return to_lines(result) + extras(result); }

/// One row a checkpoint, and below what was asked for besides.
std::string report_all(const Json& results) {
  Json rows = Json::array();
  for (const Json& result : results) {
    Json& row = rows.emplace_back();
    for (const char* name : {"step", "nats_per_char", "perplexity", "bits_per_char", "characters"})
      row[name] = result[name];
  }
  std::string text = to_table(rows);
  for (const Json& result : results) {
    const std::string more = extras(result);
    if (!more.empty()) text += fmt::format("\nstep {}\n{}", result["step"].dump(), more);
  }
  return text;
}

}  // namespace

int eval_command(const Request& request) {
  keep_freed_memory();
  set_threads(request.config.run.threads);
  const bool all = request.model.checkpoint == "all";
  Json results = Json::array();
  if (all) {
    for (const ChosenModel& chosen : every_checkpoint(request.model.folder, request.model.weights)) {
      results.push_back(result(request, {chosen, read_model(chosen)}));
      if (request.stop_signal->load() != 0) break;
    }
  } else {
    results.push_back(result(request, open_model(request.model)));
  }
  if (request.stop_signal->load() != 0) return 128 + request.stop_signal->load();
  if (request.json) {
    Json document = {{"v", 1}};
    document.update(all ? Json{{"checkpoints", results}} : results.front());
    write_output(to_json_line(document) + "\n");
  } else {
    write_output(all ? report_all(results) : report(results.front()));
  }
  return 0;
}

}  // namespace chargpt
