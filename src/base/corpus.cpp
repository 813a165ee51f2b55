#include "chargpt/base/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "chargpt/base/file.hpp"
#include "chargpt/base/random.hpp"
#include "chargpt/base/utf8.hpp"
#include "chargpt/base/vocabulary.hpp"

namespace chargpt {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ExitCode::bad_data, message); }

/// The data files of a config; those that are not given have no documents.
struct Files {
  Documents main, val, test;
};

Files read_files(const DataConfig& data) {
  const auto read = [&](const std::string& path) { return path.empty() ? Documents{} : read_documents(path, data); };
  return {read_documents(data.path, data), read(data.val_path), read(data.test_path)};
}

Tokenizer build_tokenizer(const Files& files, const DataConfig& data) {
  if (data.format == DataFormat::bytes) return Tokenizer::bytes();
  const bool end_mark = files.main.end_mark || files.val.end_mark || files.test.end_mark;
  if (!data.vocabulary.empty()) return given_vocabulary(data, end_mark);
  CharacterCounts counts;
  for (const auto* documents : {&files.main, &files.val, &files.test}) counts.add(*documents);
  return counts.tokenizer(data, end_mark);
}

Fingerprint fingerprint(const Files& files) {
  return {files.main.bytes + files.val.bytes + files.test.bytes,
          xxh3_128(fmt::format("{}\n{}\n{}", files.main.hash, files.val.hash, files.test.hash))};
}

/// Ids of document `d`, its end mark included.
std::vector<std::int32_t> encode_document(const Documents& documents, std::size_t d, const Tokenizer& tokenizer) {
  const std::string source =
      documents.end_mark ? fmt::format("{}, document {}", documents.path, d + 1) : documents.path;
  auto ids = tokenizer.encode(documents.texts[d], source);
  if (!documents.end_mark) return ids;
  if (!tokenizer.has_end_mark()) {
    fail(
        fmt::format("{}: its documents end with {}, which the model's vocabulary lacks; use data.format=text, or a "
                    "model trained on documents",
                    documents.path, kEndMark));
  }
  ids.push_back(Tokenizer::end_mark_id());
  return ids;
}

void append_document(Split& split, std::span<const std::int32_t> ids) {
  split.ids.insert(split.ids.end(), ids.begin(), ids.end());
  split.starts.push_back(static_cast<std::int64_t>(split.ids.size()));
}

void append_all(Split& split, const Documents& documents, const Tokenizer& tokenizer) {
  for (std::size_t d = 0; d < documents.texts.size(); ++d) {
    append_document(split, encode_document(documents, d, tokenizer));
  }
}

/// Parts of n things in a row: train [0, train_end), val [train_end, val_end), test [val_end, n).
struct Bounds {
  std::size_t train_end, val_end;
};

Bounds contiguous_bounds(std::size_t n, double val, double test) {
  const auto floor_of = [n](double fraction) {
    return static_cast<std::size_t>(std::max(0.0, std::floor(fraction * static_cast<double>(n))));
  };
  return {floor_of(1 - val - test), floor_of(1 - test)};
}

Bounds document_bounds(std::size_t n, double val, double test) {
  const auto count = [n](double fraction) -> std::size_t {
    return fraction > 0 ? std::max<std::size_t>(1, static_cast<std::size_t>(fraction * static_cast<double>(n))) : 0;
  };
  const std::size_t val_end = n - std::min(n, count(test));
  return {val_end - std::min(val_end, count(val)), val_end};
}

/// The part of `ids` that stands in [begin, end) where ids[0] stands at `first`.
std::span<const std::int32_t> within(std::span<const std::int32_t> ids, std::size_t first, std::size_t begin,
                                     std::size_t end) {
  const auto place = [&](std::size_t at) { return std::clamp(at, first, first + ids.size()) - first; };
  return ids.subspan(place(begin), place(end) - place(begin));
}

/// Cuts texts one after the other at characters.
void split_texts(Corpus& corpus, const Documents& documents, double val, double test) {
  std::size_t n = 0;
  for (const auto& text : documents.texts) n += text.size();
  const auto [train_end, val_end] = contiguous_bounds(n, val, test);
  std::size_t first = 0;
  for (std::size_t d = 0; d < documents.texts.size(); ++d) {
    const auto ids = encode_document(documents, d, corpus.tokenizer);
    for (const auto& [split, begin, end] :
         {std::tuple{&corpus.train, std::size_t{0}, train_end}, std::tuple{&corpus.val, train_end, val_end},
          std::tuple{&corpus.test, val_end, n}}) {
      const auto part = within(ids, first, begin, end);
      if (!part.empty()) append_document(*split, part);
    }
    first += ids.size();
  }
}

/// A number in [0, 1) that a text has for a seed, whatever stands beside it.
double hashed_unit(const std::u32string& text, std::int64_t seed) {
  constexpr std::size_t kDigits = 13;  // of 4 bits: what a double holds
  const std::string hash = xxh3_128(fmt::format("{}\n{}", seed, encode_utf8(text)));
  return static_cast<double>(std::stoull(hash.substr(0, kDigits), nullptr, 16)) / std::exp2(4 * kDigits);
}

void split_by_hash(Corpus& corpus, const Documents& documents, std::int64_t seed, double val, double test) {
  for (std::size_t d = 0; d < documents.texts.size(); ++d) {
    const double unit = hashed_unit(documents.texts[d], seed);
    Split& split = unit < test ? corpus.test : unit < test + val ? corpus.val : corpus.train;
    append_document(split, encode_document(documents, d, corpus.tokenizer));
  }
}

/// Documents in file order, or dealt by the seed.
void split_documents(Corpus& corpus, const Documents& documents, const DataConfig& data, double val, double test) {
  const std::size_t n = documents.texts.size();
  const bool in_file_order = data.split == SplitMethod::contiguous;
  const auto [train_end, val_end] = in_file_order ? contiguous_bounds(n, val, test) : document_bounds(n, val, test);
  const Permutation rank_of(n, static_cast<std::uint64_t>(data.split_seed), Purpose::split, 0);
  for (std::size_t d = 0; d < n; ++d) {
    const std::size_t rank = in_file_order ? d : rank_of(d);
    Split& split = rank < train_end ? corpus.train : rank < val_end ? corpus.val : corpus.test;
    append_document(split, encode_document(documents, d, corpus.tokenizer));
  }
}

bool splits_documents(SplitMethod method, bool end_mark) {
  switch (method) {
    case SplitMethod::document:
    case SplitMethod::hashed:
      return true;
    case SplitMethod::automatic:
    case SplitMethod::contiguous:
      break;
  }
  return end_mark;
}

void split_main(Corpus& corpus, const Documents& documents, const DataConfig& data) {
  const double val = data.val_path.empty() ? data.val_fraction : 0;
  const double test = data.test_path.empty() ? data.test_fraction : 0;
  if (!splits_documents(data.split, documents.end_mark)) return split_texts(corpus, documents, val, test);
  if (!documents.end_mark && documents.texts.size() == 1) {
    throw Error(ExitCode::usage,
                fmt::format("data.split = {} deals out whole documents, but {} is one text: set data.split to "
                            "contiguous, data.format to lines or jsonl, or give several files",
                            name(data.split), documents.path));
  }
  if (data.split == SplitMethod::hashed) return split_by_hash(corpus, documents, data.split_seed, val, test);
  split_documents(corpus, documents, data, val, test);
}

std::int64_t longest_document(const Split& split) {
  std::int64_t longest = 0;
  for (std::int64_t d = 0; d < split.documents(); ++d) longest = std::max(longest, split.document_size(d));
  return longest;
}

/// "has 9 characters", or what the longest of several documents has.
std::string describe_size(const Split& split, bool end_mark) {
  const std::int64_t longest = longest_document(split);
  const auto* const unit = longest == 1 ? "character" : "characters";
  if (!end_mark && split.documents() <= 1) return fmt::format("has {} {}", longest, unit);
  if (split.documents() == 0) return "has no document";
  return fmt::format("has {} {}{} in the longest of its documents ({})", longest, unit,
                     end_mark ? " with its end mark" : "", split.documents());
}

/// `corpus` has no more yet than the parts of the main file.
void check_train(const Corpus& corpus, const Config& config, const Documents& documents) {
  const std::int64_t longest = longest_document(corpus.train);
  const std::int64_t context = config.model.context;
  if (longest > context) return;
  std::string remedy = "give more text";
  if (longest >= 2) remedy += fmt::format(", or shorten the window: --set model.context={}", longest - 1);
  if (corpus.val.documents() + corpus.test.documents() > 0) {
    remedy += fmt::format(", or leave it more (data.val_fraction {}, data.test_fraction {})", config.data.val_fraction,
                          config.data.test_fraction);
  }
  fail(fmt::format("{}: the train part {}, but a window needs {} (model.context {} + 1); {}", documents.path,
                   describe_size(corpus.train, documents.end_mark), context + 1, context, remedy));
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

void check_scored(Part part, const Corpus& corpus, const Config& config, const Files& files) {
  const std::int64_t needed = ids_to_score(config);
  const bool is_val = part == Part::val;
  const std::string& path = is_val ? config.data.val_path : config.data.test_path;
  const double fraction = is_val ? config.data.val_fraction : config.data.test_fraction;
  if ((path.empty() && fraction == 0) || longest_document(corpus.part(part)) >= needed) return;
  const Documents& documents = path.empty() ? files.main : is_val ? files.val : files.test;
  const std::string remedy = path.empty()
                                 ? fmt::format(
                                       "give more text, raise data.{0}_fraction ({1}), or do without this part: "
                                       "--set data.{0}_fraction=0",
                                       name(part), fraction)
                                 : fmt::format("give more text, or leave out data.{}_path", name(part));
  fail(fmt::format("{}: the {} part {}, but scoring needs {}; {}", documents.path, name(part),
                   describe_size(corpus.part(part), documents.end_mark), needed, remedy));
}

Corpus build_corpus(const Config& config, const Files& files, Tokenizer tokenizer) {
  Corpus corpus{std::move(tokenizer), {}, {}, {}, fingerprint(files)};
  split_main(corpus, files.main, config.data);
  check_train(corpus, config, files.main);
  append_all(corpus.val, files.val, corpus.tokenizer);
  append_all(corpus.test, files.test, corpus.tokenizer);
  check_scored(Part::val, corpus, config, files);
  check_scored(Part::test, corpus, config, files);
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

Corpus load_corpus(const Config& config) {
  const Files files = read_files(config.data);
  return build_corpus(config, files, build_tokenizer(files, config.data));
}

Corpus load_corpus(const Config& config, const Tokenizer& tokenizer) {
  if (tokenizer.is_bytes() != (config.data.format == DataFormat::bytes)) {
    throw Error(ExitCode::usage, fmt::format("the model's vocabulary is of {}, but data.format = {}: set it to {}",
                                             tokenizer.is_bytes() ? "bytes" : "characters", name(config.data.format),
                                             tokenizer.is_bytes() ? "bytes" : "text, lines, jsonl or auto"));
  }
  return build_corpus(config, read_files(config.data), tokenizer);
}

}  // namespace chargpt
