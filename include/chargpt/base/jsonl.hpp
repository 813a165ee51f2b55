#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/hash_set.hpp"
#include "chargpt/base/json_tokens.hpp"

namespace chargpt {

/// A stretch of documents, one after the other.
struct JsonlText {
  std::string bytes;              ///< in UTF-8
  std::vector<std::size_t> ends;  ///< where in `bytes` documents end; the last one may go on in the next stretch
};

/// Reads JSONL piece by piece, so that a line may be of any length: on each line a JSON object (RFC 8259) with a string
/// in its field `field`, the document. Lines of nothing but white space are left out. Beyond the grammar it refuses, as
/// parse_json() does, a key that stands twice in one object and nesting deeper than kDeepest; and more than kMostKeys
/// keys in a line or one longer than kLongestKey, which are all that it keeps of a line. Numbers may be of any size.
class JsonlReader {
 public:
  /// `name`: of the text, for messages.
  JsonlReader(std::string field, std::string name);

  /// What the text's next bytes, whole characters of well-formed UTF-8, hold of documents. Error(bad_data) with the
  /// line and, of a fault in the grammar, the column in bytes.
  JsonlText read(std::string_view bytes);
  /// What the end of the text adds: the last line needs no line feed.
  JsonlText finish();

  static constexpr std::size_t kDeepest = 64;
  static constexpr std::size_t kMostKeys = 200'000;
  static constexpr std::size_t kLongestKey = 1 << 16;  ///< bytes

 private:
  enum class Next {
    line,         ///< the line's object
    first_key,    ///< an object's first key, or its end
    key,          ///< another one
    colon,        ///< what separates it from its value
    first_value,  ///< an array's first value, or its end
    value,        ///< any other value
    after_value,  ///< a comma, or the end of an object or array
    line_end,     ///< nothing more on this line
    string,       ///< more of these
    number,
    literal,
  };
  enum class Role { key, document, other };  ///< of a string

  void take(char c);
  void take_mark(char c);
  void take_value(char c);
  void take_after_value(char c);
  std::size_t take_string(std::string_view bytes);
  void take_number(char c);
  void take_literal(char c);
  void begin_string(Role role);
  void end_string();
  void end_key();
  void open(char c);
  void close();
  void end_line();
  bool in_object() const { return open_.back() != 0; }
  [[noreturn]] void fail(const std::string& what) const;                     ///< at this place
  [[noreturn]] void fail_expected(const std::string& what, char got) const;  ///< the same
  [[noreturn]] void fail_line(const std::string& what) const;                ///< of the line as a whole

  std::string field_, name_;
  JsonlText made_;           // since read() was called
  std::size_t written_ = 0;  // of its bytes
  Next next_ = Next::line;
  std::int64_t line_ = 1, column_ = 1;  // of the byte that is taken

  std::vector<std::uint64_t> open_;  // around this place: objects by number, from 1, and arrays as 0
  std::uint64_t objects_ = 0;        // begun so far
  HashSet keys_;                     // of the line, each with its object
  bool found_ = false;               // the line's document

  Role role_ = Role::other;
  JsonString string_;
  std::string key_;  // the last one
  JsonNumber number_;
  std::string_view literal_;  // what is left of it
};

}  // namespace chargpt
