#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/app/stop_signal.hpp"
#include "chargpt/base/leaks.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/preparation.hpp"
#include "chargpt/base/preparation_line.hpp"
#include "chargpt/base/signal_list.hpp"
#include "chargpt/base/table.hpp"
#include "chargpt/base/terminal.hpp"
#include "chargpt/base/text_statistics.hpp"
#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kShown = 40;  // rows of the vocabulary in a terminal

Config data_config(const Arguments& arguments) {
  Config config = resolve_config(arguments).config;
  check_rules(config);
  if (!config.data.path.empty()) return config;
  throw Error(ExitCode::usage, "which text? Give --data PATH, or data.path in the config");
}

/// Says on stderr how the reading of a long text goes.
PreparationLine reading_line(const Arguments& arguments, std::string_view verb) {
  return {wants_live_line(STDERR_FILENO, arguments.no_color), arguments.quiet, verb};
}

/// Files that are named one by one are looked at together.
Json all_statistics(const Config& config, const PreparationEvents& events) {
  std::vector<NamedText> texts = named_texts(config.data);
  ReadingProgress progress(events, stored_bytes(texts).value_or(0));
  ThreadPool pool(reading_threads(progress.total(), config.run.threads));
  Json files = Json::array();
  for (NamedText& text : texts) files.push_back(text_statistics(text.reader, pool, progress.of(text.reader)));
  return files;
}

Json read_statistics(const Arguments& arguments) {
  const Config config = data_config(arguments);
  PreparationLine line = reading_line(arguments, "reading");
  return all_statistics(config, line.events());
}

/// The most frequent characters, as they can be shown.
std::string vocabulary_table(Json vocabulary) {
  std::stable_sort(vocabulary.begin(), vocabulary.end(),
                   [](const Json& a, const Json& b) { return a["count"] > b["count"]; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(kShown, vocabulary.size()); ++i) {
    Json& row = rows.emplace_back(vocabulary[i]);
    row["char"] = encode_utf8(visible(decode_utf8(row["char"].get<std::string>(), "a character")[0]));
  }
  std::string text = to_table(rows);
  if (vocabulary.size() > kShown)
    text += fmt::format("and {} rarer ones; --json lists all\n", vocabulary.size() - kShown);
  return text;
}

/// Where duplicates were not looked for to the end.
std::string duplicates_note(const Json& file) {
  std::string text;
  for (const std::string_view pieces : {"lines", "documents"}) {
    const auto among = file.find(fmt::format("duplicate_{}_among", pieces));
    if (among == file.end()) continue;
    text += fmt::format("duplicate {0} were counted among the first {1} {0} only, of which {2} are different\n", pieces,
                        among->dump(), kRemembered);
  }
  return text;
}

std::string report(const Json& file) {
  Json numbers = file;
  numbers.erase("suspiciously_many_characters");  // said below
  std::string text = to_lines(numbers) + duplicates_note(file);
  text += fmt::format("longest_line  {} characters (document {}, line {})\n", file["longest_line"]["characters"].dump(),
                      file["longest_line"]["document"].dump(), file["longest_line"]["line"].dump());
  text += "\ncharacters by script\n" + to_lines(file["scripts"]);
  if (!file["suspicious"].empty()) text += "\nsuspicious characters\n" + to_table(file["suspicious"]);
  if (file["suspiciously_many_characters"].get<bool>()) {
    text += "\nso many different characters are seldom meant: was the file decoded with the right data.encoding?\n";
  }
  return text + "\nthe most frequent characters\n" + vocabulary_table(file["vocabulary"]);
}

Json part_row(const Corpus& corpus, Part part) {
  const Split& split = corpus.part(part);
  return {{"part", name(part)}, {"documents", split.documents()}, {"characters", split.size()}};
}

/// What all commands say that read a whole corpus.
Json corpus_json(const Corpus& corpus) {
  Json json = {{"v", 1},
               {"bytes", corpus.fingerprint.bytes},
               {"hash", corpus.fingerprint.hash},
               {"vocabulary_size", corpus.tokenizer.size()},
               {"parts", Json::array()}};
  for (const Part part : {Part::train, Part::val, Part::test}) json["parts"].push_back(part_row(corpus, part));
  return json;
}

Json preparation_json(const Corpus& corpus, bool prepared, double seconds) {
  Json json = corpus_json(corpus);
  json["file"] = corpus.file.empty() ? Json(nullptr) : Json(corpus.file);
  json["prepared"] = prepared;
  json["seconds"] = seconds;
  json["mb_per_second"] =
      prepared ? Json(static_cast<double>(corpus.fingerprint.bytes) / 1e6 / seconds) : Json(nullptr);
  return json;
}

Json check_json(const Corpus& corpus, const std::vector<Leak>& leaks) {
  Json json = corpus_json(corpus);
  json["leaks"] = Json::array();
  for (const Leak& leak : leaks) {
    json["leaks"].push_back({{"piece", name(leak.piece)},
                             {"from", name(leak.from)},
                             {"to", name(leak.to)},
                             {"count", leak.count},
                             {"example", leak.example}});
  }
  return json;
}

Corpus read_corpus(const Arguments& arguments) {
  Config config = data_config(arguments);
  config.model.context = 1;  // what a window needs is the model's affair
  PreparationLine line = reading_line(arguments, "preparing");
  return load_corpus(config, line.events());
}

}  // namespace

int run_data_stats(const Arguments& arguments) {
  const Json files = read_statistics(arguments);
  if (arguments.json) {
    write_output(to_json_line({{"v", 1}, {"files", files}}) + "\n");
    return 0;
  }
  std::string text;
  for (const Json& file : files) text += (text.empty() ? "" : "\n") + report(file);
  write_output(text);
  return 0;
}

int run_data_prepare(const Arguments& arguments) {
  Config config = data_config(arguments);
  config.model.context = 1;  // what a window needs is the model's affair
  const std::atomic<int>& stop_signal = catch_stop_signals(parse_signal_list(config.run.stop_signals));
  PreparationLine line = reading_line(arguments, "preparing");
  PreparationEvents events = line.events([&] { return stop_signal.load() != 0; });
  bool prepared = false;  // and not there before
  events.progress = [&, show = events.progress](const PreparationState& state) {
    prepared = true;
    if (show) show(state);
  };
  try {
    const auto start = std::chrono::steady_clock::now();
    const Corpus corpus = load_corpus(config, events);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Json json = preparation_json(corpus, prepared, seconds);
    if (corpus.file.empty()) {
      write_message(
          "its ids are kept nowhere: data.cache = auto keeps those of files of 16 MiB or more, a folder those of all "
          "files\n");
    }
    write_output(arguments.json ? to_json_line(json) + "\n" : to_lines(json) + "\n" + to_table(json["parts"]));
  } catch (const Interrupted&) {
    return 128 + stop_signal.load();
  }
  return 0;
}

int run_data_check(const Arguments& arguments) {
  const Corpus corpus = read_corpus(arguments);
  const std::vector<Leak> leaks = find_leaks(corpus);
  const Json json = check_json(corpus, leaks);
  if (arguments.json) {
    write_output(to_json_line(json) + "\n");
  } else {
    write_output(to_lines(json) + "\n" + to_table(json["parts"]));
  }
  for (const Leak& leak : leaks) {
    write_message(fmt::format("leak: {} {}{} of {} in {} too, the first: {}\n", leak.count, name(leak.piece),
                              leak.count == 1 ? "" : "s", name(leak.to), name(leak.from), shown(leak.example)));
  }
  return leaks.empty() ? 0 : 1;
}

}  // namespace chargpt
