#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// More different characters than Chinese texts have: that is how bytes of another encoding may look.
inline constexpr std::size_t kSuspiciouslyManyCharacters = 12'000;

/// How often each character stands in documents.
class CharacterCounts {
 public:
  void add(std::u32string_view characters);
  void add(const CharacterCounts& others);
  std::uint64_t total() const;  ///< characters, each as often as it stands there
  std::uint64_t count(char32_t character) const { return counts_[character]; }
  std::set<char32_t> characters() const;

  /// The vocabulary that data.min_count and data.max_vocabulary leave of these characters, as load_corpus() says it. It
  /// has the unknown mark where either key leaves characters out, whether or not there are such. Error(bad_data) when
  /// none is left.
  Tokenizer tokenizer(const DataConfig& data, bool end_mark) const;

 private:
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(0x110000);
};

/// The vocabulary that data.vocabulary names: that of a run folder's best model or of a model file (.safetensors), or
/// that of a text, which is made of its characters as above. The text is lines where the data is, else
/// JSONL where its name says so. Errors as reading these; usage for a vocabulary of bytes, and for a model's from which
/// data.min_count or data.max_vocabulary would leave characters out.
Tokenizer given_vocabulary(const DataConfig& data, bool end_mark);

}  // namespace chargpt
