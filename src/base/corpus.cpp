#include "chargpt/base/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "chargpt/base/characters.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/file_reader.hpp"
#include "chargpt/base/memory.hpp"
#include "chargpt/base/preparation.hpp"
#include "chargpt/base/token_cache.hpp"
#include "chargpt/base/utf8.hpp"
#include "chargpt/base/vocabulary.hpp"

namespace chargpt {
namespace {

/// What identifies the files of a text without reading them. A changed file has another time of change, whatever is
/// made of its time of modification.
Json stamps_of(const TextReader& text) {
  Json stamps = Json::array();
  const std::vector<FileStamp> found = text.stamps();
  for (std::size_t f = 0; f < found.size(); ++f) {
    const std::string path = std::filesystem::absolute(text.files()[f]).string();
    // A path may hold any bytes, JSON only UTF-8.
    stamps.push_back(
        {encode_utf8(byte_characters(path)), found[f].inode, found[f].size, found[f].modified, found[f].changed});
  }
  return stamps;
}

/// A vocabulary as it stands in a file of ids.
Json to_json(const Tokenizer& tokenizer) { return tokenizer.is_bytes() ? Json("bytes") : tokenizer.to_json(); }

/// All that the ids of a text depend on. `vocabulary`: null when it is made of the data.
Json key_of(const std::vector<NamedText>& texts, const DataConfig& data, const std::optional<Tokenizer>& vocabulary) {
  Json key = {{"layout", 3},  // of the file
              {"format", name(data.format)},
              {"field", data.field},
              {"encoding", data.encoding},
              {"normalize", name(data.normalize)},
              {"val_fraction", data.val_fraction},
              {"test_fraction", data.test_fraction},
              {"split", name(data.split)},
              {"split_seed", data.split_seed},
              {"min_count", data.min_count},
              {"max_vocabulary", data.max_vocabulary},
              {"cross_documents", data.crosses_documents()},
              {"vocabulary", vocabulary ? Json(xxh3_128(to_json_line(to_json(*vocabulary)))) : Json(nullptr)},
              {"texts", Json::object()}};
  for (const NamedText& text : texts) {
    key["texts"][text.part ? std::string(name(*text.part)) : "main"] = stamps_of(text.reader);
  }
  return key;
}

void require_memory_for_ids(std::uint64_t ids, const std::string& path) {
  require_memory(ids * sizeof(std::int32_t), available_memory(), fmt::format("the ids of {}", input_name(path)),
                 "let data.cache name a folder");
}

std::uint64_t ids_of(const Preparation& preparation) {
  return std::accumulate(preparation.room().begin(), preparation.room().end(), std::uint64_t{0});
}

Corpus corpus_in_memory(Preparation& preparation, const DataConfig& data) {
  std::array<std::vector<std::int32_t>, kParts> ids;
  std::array<Offsets, kParts> documents;
  const auto& room = preparation.room();
  require_memory_for_ids(ids_of(preparation), data.path);
  for (std::size_t p = 0; p < kParts; ++p) ids[p].reserve(room[p]);  // what is not needed of it is never touched
  const auto take = [&](Part part, std::span<const std::int32_t> some) {
    std::vector<std::int32_t>& to = ids[static_cast<std::size_t>(part)];
    to.insert(to.end(), some.begin(), some.end());
  };
  preparation.encode(
      {take, [&](Part part, std::int64_t size) { documents[static_cast<std::size_t>(part)].add(size); }});
  const auto split = [&](std::size_t p) {
    return Split(std::move(ids[p]), std::move(documents[p]), data.crosses_documents());
  };
  return {preparation.tokenizer(), split(0), split(1), split(2), preparation.fingerprint()};
}

/// To a path or an unnamed file.
template <class File>
void write_tokens(Preparation& preparation, const Json& key, const File& file) {
  const Tokenizer& tokenizer = preparation.tokenizer();
  TokenFileWriter writer(file, kParts, tokenizer.size() <= 1 << 16 ? 2 : 4);
  preparation.encode(
      {[&](Part part, std::span<const std::int32_t> ids) { writer.append(static_cast<std::size_t>(part), ids); },
       [&](Part part, std::int64_t size) { writer.add_document(static_cast<std::size_t>(part), size); }});
  writer.finish({{"key", key},
                 {"vocabulary", to_json(tokenizer)},
                 {"bytes", preparation.fingerprint().bytes},
                 {"hash", preparation.fingerprint().hash}});
}

Corpus corpus_of(const std::shared_ptr<const TokenFile>& file, const DataConfig& data,
                 const std::optional<Tokenizer>& vocabulary) {
  const Json& description = file->description();
  const auto split = [&](std::size_t p) { return Split(file, p, data.crosses_documents()); };
  return {vocabulary ? *vocabulary : Tokenizer::from_json(description.at("vocabulary"), file->path(), data.normalize),
          split(0),
          split(1),
          split(2),
          {description.at("bytes").get<std::uint64_t>(), description.at("hash").get<std::string>()},
          file->path()};
}

/// What nobody else will want, standard input or files of too few bytes to be kept, may be a text of any size: ids
/// beyond kCachedFrom do not stay in memory.
Corpus corpus_of_one_use(Preparation& preparation, const DataConfig& data) {
  std::optional<UnnamedFile> file;
  if (ids_of(preparation) >= kCachedFrom) file = unnamed_cache_file(data, "the ids of " + input_name(data.path));
  if (!file) return corpus_in_memory(preparation, data);
  write_tokens(preparation, nullptr, *file);
  Corpus corpus = corpus_of(std::make_shared<const TokenFile>(file->reader()), data, preparation.tokenizer());
  corpus.file.clear();
  return corpus;
}

/// A file that was prepared with a vocabulary made of the data, if that is `vocabulary`.
std::shared_ptr<const TokenFile> find_own(const std::string& folder, const std::vector<NamedText>& texts,
                                          const DataConfig& data, const Tokenizer& vocabulary) {
  if (vocabulary.is_bytes() || vocabulary.normalization() != data.normalize) return nullptr;
  auto file = TokenCache(folder, key_of(texts, data, std::nullopt)).find({});
  return file && file->description().at("vocabulary") == vocabulary.to_json() ? file : nullptr;
}

/// The vocabulary, where it is known before the data is read.
std::optional<Tokenizer> known_vocabulary(const std::vector<NamedText>& texts, const DataConfig& data) {
  if (data.format == DataFormat::bytes) return Tokenizer::bytes();
  if (data.vocabulary.empty()) return std::nullopt;
  const bool end_mark =
      std::any_of(texts.begin(), texts.end(), [](const NamedText& text) { return text.reader.end_mark(); });
  return given_vocabulary(data, end_mark);
}

/// Without links, as far as it is there.
std::filesystem::path plain_path(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at says so when it is used
  const auto absolute = std::filesystem::absolute(path, ignored);
  const auto plain = std::filesystem::weakly_canonical(absolute, ignored);
  return ignored ? absolute : plain;
}

/// Whether the files in `inner` would be among those that data_files() finds in the folder `outer`.
bool is_searched(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  auto [end, below] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return end == outer.end() && std::none_of(below, inner.end(), [](const std::filesystem::path& name) {
           return name.string().starts_with('.');
         });
}

/// Else the files of ids would be read as text.
void require_outside(const std::string& cache, const std::vector<NamedText>& texts) {
  const auto folder = plain_path(cache);
  for (const NamedText& text : texts) {
    const std::vector<std::string>& files = text.reader.files();
    std::error_code ignored;
    const bool searched =
        std::filesystem::is_directory(text.reader.path(), ignored)
            ? is_searched(folder, plain_path(text.reader.path()))
            : files.size() > 1 && std::any_of(files.begin(), files.end(), [&](const std::string& file) {
                return plain_path(file).parent_path() == folder;
              });
    if (!searched) continue;
    fail_usage(
        fmt::format("data.cache = {} lies among the texts of {}, and its files would be read as text: name a "
                    "folder outside",
                    cache, text.reader.path()));
  }
}

Corpus read_corpus(const Config& config, std::vector<NamedText>& texts, const std::optional<Tokenizer>& vocabulary,
                   const PreparationEvents& events) {
  const DataConfig& data = config.data;
  const auto prepare = [&] { return Preparation(texts, data, vocabulary, config.run.threads, events); };
  const std::string folder = cache_folder(data, stored_bytes(texts));
  if (folder.empty()) {
    auto preparation = prepare();
    return corpus_of_one_use(preparation, data);
  }
  require_outside(folder, texts);
  if (vocabulary) {
    if (const auto own = find_own(folder, texts, data, *vocabulary)) return corpus_of(own, data, vocabulary);
  }
  const TokenCache cache(folder, key_of(texts, data, vocabulary));
  const auto file = cache.find_or_write(
      [&](const std::string& path) {
        auto preparation = prepare();
        write_tokens(preparation, cache.key(), path);
        if (key_of(texts, data, vocabulary) != cache.key()) fail_changed(data.path);
      },
      events);
  return corpus_of(file, data, vocabulary);
}

/// The longest stretch of ids that a window may lie in.
std::int64_t longest_stretch(const Split& split) {
  std::int64_t longest = 0;
  split.for_stretch_sizes_from(0, [&](std::int64_t size) {
    longest = std::max(longest, size);
    return true;
  });
  return longest;
}

/// "has 9 characters", or what the longest of several documents has.
std::string describe_size(const Split& split, bool end_mark) {
  const std::int64_t longest = longest_stretch(split);
  const auto* const unit = longest == 1 ? "character" : "characters";
  if (!end_mark && split.documents() <= 1) return fmt::format("has {} {}", longest, unit);
  if (split.documents() == 0) return "has no document";
  if (split.stretches() == 1 && split.documents() > 1) return fmt::format("has {} {}, marks counted", longest, unit);
  return fmt::format("has {} {}{} in the longest of its documents ({})", longest, unit,
                     end_mark ? " with its end mark" : "", split.documents());
}

/// Where the text of a part is from.
struct Source {
  std::string path;
  bool end_mark;
};

Source source_of(const std::string& path, const DataConfig& data) { return {path, TextReader(path, data).end_mark()}; }

void check_train(const Corpus& corpus, const Config& config) {
  const std::int64_t longest = longest_stretch(corpus.train);
  const std::int64_t context = config.model.context;
  const DataConfig& data = config.data;
  if (longest > context) return;
  std::string remedy = "give more text";
  if (longest >= 2) remedy += fmt::format(", or shorten the window: --set model.context={}", longest - 1);
  const bool leaves_some =
      (data.val_path.empty() && corpus.val.documents() > 0) || (data.test_path.empty() && corpus.test.documents() > 0);
  if (leaves_some) {
    remedy += fmt::format(", or leave it more (data.val_fraction {}, data.test_fraction {})", data.val_fraction,
                          data.test_fraction);
  }
  const Source source = source_of(data.path, data);
  fail_bad_data(fmt::format("{}: the train part {}, but a window needs {} (model.context {} + 1); {}", source.path,
                            describe_size(corpus.train, source.end_mark), context + 1, context, remedy));
}

/// Scoring needs one character to predict and one to predict it from, or a whole window where eval.mode takes those.
std::int64_t ids_to_score(const Config& config) {
  switch (config.eval.mode) {
    case EvalMode::random:
      return config.model.context + 1;
    case EvalMode::windows:
      return config.eval.stride == 0 ? 2 : config.model.context + 1;
    case EvalMode::sliding:
      break;
  }
  return 2;
}

void check_scored(Part part, const Corpus& corpus, const Config& config) {
  const std::int64_t needed = ids_to_score(config);
  const bool is_val = part == Part::val;
  const std::string& path = is_val ? config.data.val_path : config.data.test_path;
  const double fraction = is_val ? config.data.val_fraction : config.data.test_fraction;
  if ((path.empty() && fraction == 0) || longest_stretch(corpus.part(part)) >= needed) return;
  const Source source = source_of(path.empty() ? config.data.path : path, config.data);
  const std::string remedy = path.empty()
                                 ? fmt::format(
                                       "give more text, raise data.{0}_fraction ({1}), or do without this part: "
                                       "--set data.{0}_fraction=0",
                                       name(part), fraction)
                                 : fmt::format("give more text, or leave out data.{}_path", name(part));
  fail_bad_data(fmt::format("{}: the {} part {}, but scoring needs {}; {}", source.path, name(part),
                            describe_size(corpus.part(part), source.end_mark), needed, remedy));
}

Corpus checked(Corpus corpus, const Config& config) {
  check_train(corpus, config);
  check_scored(Part::val, corpus, config);
  check_scored(Part::test, corpus, config);
  return corpus;
}

}  // namespace

std::string_view name(Part value) {
  switch (value) {
    case Part::train:
      return "train";
    case Part::val:
      return "val";
    case Part::test:
      return "test";
  }
  return "";
}

BeginMarks begin_marks(const DataConfig& data) {
  if (data.format != DataFormat::lines) return BeginMarks::none;
  return data.crosses_documents() ? BeginMarks::first : BeginMarks::all;
}

bool begins_with_mark(BeginMarks marks, std::int64_t ids_before) {
  switch (marks) {
    case BeginMarks::none:
      return false;
    case BeginMarks::first:
      return ids_before == 0;
    case BeginMarks::all:
      break;
  }
  return true;
}

const Split& Corpus::part(Part p) const {
  switch (p) {
    case Part::train:
      return train;
    case Part::val:
      return val;
    case Part::test:
      break;
  }
  return test;
}

Corpus load_corpus(const Config& config, const PreparationEvents& events) {
  auto texts = named_texts(config.data);
  return checked(read_corpus(config, texts, known_vocabulary(texts, config.data), events), config);
}

Corpus load_corpus(const Config& config, const Tokenizer& tokenizer, const PreparationEvents& events) {
  if (tokenizer.is_bytes() != (config.data.format == DataFormat::bytes)) {
    throw Error(ExitCode::usage, fmt::format("the model's vocabulary is of {}, but data.format = {}: set it to {}",
                                             tokenizer.is_bytes() ? "bytes" : "characters", name(config.data.format),
                                             tokenizer.is_bytes() ? "bytes" : "text, lines, jsonl or auto"));
  }
  auto texts = named_texts(config.data);
  return checked(read_corpus(config, texts, tokenizer, events), config);
}

}  // namespace chargpt
