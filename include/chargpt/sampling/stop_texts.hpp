#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chargpt {

/// Watches a stream of ids for the first end of one of several texts (Knuth, Morris and Pratt, "Fast pattern matching
/// in strings", 1977: constant time for each id on average).
class StopTexts {
 public:
  /// None of them empty.
  explicit StopTexts(const std::vector<std::vector<std::int32_t>>& texts);

  /// Whether a text ends with `id`, the next of the stream. Not to be asked again after that.
  bool ends_with(std::int32_t id);

  /// The last ids of the stream that are, after an end, the longest text that ended there; else those with which a text
  /// may have begun, and which must be held back.
  std::size_t held() const { return held_; }

 private:
  struct Text {
    std::vector<std::int32_t> ids;
    std::vector<std::size_t> border;  // of the first n ids: the longest proper beginning that is an end too, by n
    std::size_t matched = 0;          // the longest beginning that the stream ends with
  };
  static void advance(Text& text, std::int32_t id);

  std::vector<Text> texts_;
  std::size_t held_ = 0;
};

}  // namespace chargpt
