#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/json.hpp"

namespace chargpt {

/// Ends a document; id 0 of every vocabulary that has it.
inline constexpr std::string_view kEndMark = "<|e|>";

/// Characters of a text that a vocabulary lacks.
struct UnknownCharacters {
  std::int64_t count = 0;
  std::vector<char32_t> examples;  ///< the first few different ones

  void add(char32_t code_point);
  std::string text() const;  ///< the examples described for a message, with advice where combining marks are among them
};

/// Characters (Unicode code points) to ids and back. Ids are in order of code point, after the end mark if there is
/// one.
class Tokenizer {
 public:
  /// `code_points`: the different characters of all splits.
  Tokenizer(const std::set<char32_t>& code_points, bool end_mark);

  /// From a JSON array of strings in id order, as to_json() writes it. Error(unusable_model) with `source`, entry and
  /// reason when it is not one: empty, a duplicate, not one code point, out of order, the end mark elsewhere than at 0.
  static Tokenizer from_json(const Json& vocabulary, const std::string& source);
  Json to_json() const;

  std::int64_t size() const { return static_cast<std::int64_t>(symbols_.size()); }
  bool has_end_mark() const { return end_mark_; }
  static constexpr std::int32_t end_mark_id() { return 0; }

  /// Id of a character, or -1 if it is not in the vocabulary.
  std::int32_t id(char32_t code_point) const;
  /// Error(bad_data) for characters outside the vocabulary: names the first, its position, and how many there are.
  std::vector<std::int32_t> encode(std::u32string_view text, const std::string& source) const;
  /// UTF-8 of one id; the end mark gives its own spelling. 0 <= id < size().
  const std::string& symbol(std::int32_t id) const { return symbols_[static_cast<std::size_t>(id)]; }
  std::string decode(const std::vector<std::int32_t>& ids) const;

  bool operator==(const Tokenizer& other) const { return symbols_ == other.symbols_; }

 private:
  std::vector<std::string> symbols_;
  std::vector<std::int32_t> ids_;  // by code point up to the largest; -1 where there is none
  bool end_mark_ = false;
};

}  // namespace chargpt
