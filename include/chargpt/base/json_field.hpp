#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace chargpt {

/// Reads strings out of many small JSON objects, at many times the speed of parse_json(). Keeps the memory of the last
/// one. For one thread at a time.
class JsonFieldReader {
 public:
  JsonFieldReader();
  ~JsonFieldReader();
  JsonFieldReader(JsonFieldReader&&) noexcept;

  /// The string in the field `key` of the object `text`: just what parse_json() with the limits of JsonRules finds
  /// there, until the next call. Nothing where parse_json() has to decide: where it would refuse the text, where there
  /// is no such string, and where the text is merely unusual (longer than kLongest, deeply nested, with \u escapes of
  /// surrogates).
  std::optional<std::string_view> string(std::string_view text, std::string_view key);

  static constexpr std::size_t kLongest = 1 << 22;  ///< bytes: what is kept in memory is several times as much

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace chargpt
