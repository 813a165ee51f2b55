#include "chargpt/base/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numeric>

#include "chargpt/base/model_choice.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {
namespace {

bool leaves_out_rare(const DataConfig& data) { return data.min_count > 1 || data.max_vocabulary > 0; }

ModelChoice model_named(const std::string& path) {
  return std::filesystem::is_directory(path) ? ModelChoice{path, "", ""} : ModelChoice{"", path, ""};
}

}  // namespace

void CharacterCounts::add(std::u32string_view characters) {
  for (const char32_t character : characters) ++counts_[character];
}

void CharacterCounts::add(const CharacterCounts& others) {
  std::transform(counts_.begin(), counts_.end(), others.counts_.begin(), counts_.begin(), std::plus<>());
}

std::uint64_t CharacterCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::set<char32_t> CharacterCounts::characters() const {
  std::set<char32_t> found;
  for (char32_t character = 0; character < counts_.size(); ++character) {
    if (counts_[character] > 0) found.insert(found.end(), character);
  }
  return found;
}

Tokenizer CharacterCounts::tokenizer(const DataConfig& data, bool end_mark) const {
  const auto found = characters();
  std::vector<char32_t> kept;
  std::copy_if(found.begin(), found.end(), std::back_inserter(kept),
               [&](char32_t c) { return count(c) >= static_cast<std::uint64_t>(data.min_count); });
  std::stable_sort(kept.begin(), kept.end(), [this](char32_t a, char32_t b) { return count(a) > count(b); });
  const auto most = static_cast<std::size_t>(data.max_vocabulary);
  if (most > 0 && kept.size() > most) kept.resize(most);
  if (kept.empty()) {
    throw Error(ExitCode::bad_data, fmt::format("{}: none of its {} different characters stands there {} times: lower "
                                                "data.min_count",
                                                data.path, found.size(), data.min_count));
  }
  return {{kept.begin(), kept.end()}, end_mark, leaves_out_rare(data), data.normalize};
}

namespace {

Tokenizer vocabulary_of_model(const DataConfig& data) {
  if (leaves_out_rare(data)) {
    fail_usage(
        fmt::format("data.vocabulary = {} is a model's, which is taken whole: leave out data.min_count ({}) and "
                    "data.max_vocabulary ({})",
                    data.vocabulary, data.min_count, data.max_vocabulary));
  }
  Tokenizer tokenizer = open_model(model_named(data.vocabulary)).file.tokenizer();
  if (!tokenizer.is_bytes()) return tokenizer;
  fail_usage(fmt::format("data.vocabulary = {} is of bytes: set data.format to bytes", data.vocabulary));
}

}  // namespace

Tokenizer given_vocabulary(const DataConfig& data, bool end_mark) {
  if (std::filesystem::is_directory(data.vocabulary) || data.vocabulary.ends_with(".safetensors")) {
    return vocabulary_of_model(data);
  }
  DataConfig of_text = data;
  of_text.path = data.vocabulary;
  if (data.format != DataFormat::lines) of_text.format = DataFormat::automatic;
  CharacterCounts counts;
  ThreadPool pool(1);
  TextReader(of_text.path, of_text).read(pool, {{}, [&](const TextBlock& block, std::size_t) {
                                                  counts.add(block.characters);
                                                }});
  return counts.tokenizer(of_text, end_mark);
}

}  // namespace chargpt
