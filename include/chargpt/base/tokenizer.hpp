#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {

/// Ends a document; id 0 of every vocabulary that has it.
inline constexpr std::string_view kEndMark = "<|e|>";

/// Stands for every character outside a vocabulary that has it; the id after the end mark's, or 0. It is never sampled.
inline constexpr std::string_view kUnknownMark = "<|u|>";

/// Characters of a text that a vocabulary lacks.
struct UnknownCharacters {
  std::int64_t count = 0;
  std::vector<char32_t> examples;  ///< the first few different ones

  void add(char32_t code_point);
  std::string text() const;  ///< the examples described for a message, with advice where combining marks are among them
};

class Tokenizer;

/// The first character of a text that has no id.
struct FirstUnknown {
  char32_t code_point = 0;
  std::uint64_t position = 0;  ///< characters before it
  std::int64_t line = 1;
};

/// Error(bad_data) about characters that have no id: names the first and its place in `source`, and how many of all
/// `characters` are such.
[[noreturn]] void refuse_unknown(const Tokenizer& tokenizer, const std::string& source, const FirstUnknown& first,
                                 const UnknownCharacters& unknown, std::uint64_t characters);

/// Characters to ids and back, and how a text becomes characters: Unicode code points, or bytes.
class Tokenizer {
 public:
  /// `code_points`: the different characters of all splits. Ids are in order of code point, after the marks.
  Tokenizer(const std::set<char32_t>& code_points, bool end_mark, bool unknown_mark = false,
            Normalization normalization = Normalization::none);
  /// The 256 bytes, each its own id; as characters they are U+0000 to U+00FF.
  static Tokenizer bytes();

  /// From a JSON array of strings in id order, as to_json() writes it. Error(unusable_model) with `source`, entry and
  /// reason when it is not one: empty, a duplicate, not one code point, out of order, a mark that is not in its place.
  static Tokenizer from_json(const Json& vocabulary, const std::string& source,
                             Normalization normalization = Normalization::none);
  Json to_json() const;  ///< not of bytes

  std::int64_t size() const { return static_cast<std::int64_t>(symbols_.size()); }
  bool is_bytes() const { return bytes_; }
  Normalization normalization() const { return normalization_; }
  bool has_end_mark() const { return end_mark_; }
  static constexpr std::int32_t end_mark_id() { return 0; }
  bool has_unknown_mark() const { return unknown_mark_; }
  std::int32_t unknown_mark_id() const { return end_mark_ ? 1 : 0; }
  /// Whether this id is a mark and no character.
  bool is_mark(std::int32_t id) const { return id < (end_mark_ ? 1 : 0) + (unknown_mark_ ? 1 : 0); }

  /// A text (a prompt, say) as characters: a leading byte order mark is dropped and the normalisation applied, unless
  /// the vocabulary is of bytes. Error(bad_data) for invalid UTF-8.
  std::u32string characters(std::string_view text, const std::string& source) const;
  /// Id of a character; of one outside the vocabulary, the unknown mark's or else -1.
  std::int32_t id(char32_t character) const;
  /// Ids of characters, one for each: -1 for those that have none.
  void ids(std::u32string_view characters, std::span<std::int32_t> ids) const;
  /// Error(bad_data) for characters that have no id: names the first, its position, and how many there are.
  std::vector<std::int32_t> encode(std::u32string_view text, const std::string& source) const;

  /// What an id writes: UTF-8 or a single byte; a mark gives its own spelling. 0 <= id < size().
  const std::string& symbol(std::int32_t id) const { return symbols_[static_cast<std::size_t>(id)]; }
  std::string decode(const std::vector<std::int32_t>& ids) const;
  /// What symbols wrote, as UTF-8 for JSON and messages: byte n becomes U+00n.
  std::string as_utf8(const std::string& written) const;

  bool operator==(const Tokenizer& other) const = default;

 private:
  Tokenizer() = default;

  std::vector<std::string> symbols_;
  std::vector<std::int32_t> ids_;  // by character up to the largest; -1 where there is none
  bool end_mark_ = false;
  bool unknown_mark_ = false;
  bool bytes_ = false;
  Normalization normalization_ = Normalization::none;
};

}  // namespace chargpt
