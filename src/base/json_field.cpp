#include "chargpt/base/json_field.hpp"

#include <simdjson.h>

#include <algorithm>
#include <vector>

#include "chargpt/base/json.hpp"

namespace chargpt {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kDeepest = 32;  // below JsonRules::max_depth, however either counts

/// Half of a character beyond U+FFFF, \ud800 to \udfff: whether halves without the other are refused depends on the
/// parser.
bool may_escape_surrogates(std::string_view text) {
  constexpr std::string_view kEscape = "\\u", kFirst = "dD", kSecond = "89abcdefABCDEF";  // \ud0 to \ud7 are others
  for (auto at = text.find(kEscape); at != std::string_view::npos; at = text.find(kEscape, at + 2)) {
    const std::string_view digits = text.substr(at + 2, 2);
    if (digits.size() == 2 && kFirst.find(digits[0]) < kFirst.size() && kSecond.find(digits[1]) < kSecond.size()) {
      return true;
    }
  }
  return false;
}

/// Holds what parse_json() demands beyond the grammar: keys that differ, and not too many values.
class Rules {
 public:
  bool accept(const dom::element& value) {
    if (++values_ > JsonRules().max_values) return false;
    dom::array array;
    if (value.get(array) == simdjson::SUCCESS) {
      return std::all_of(array.begin(), array.end(), [this](const dom::element& child) { return accept(child); });
    }
    dom::object object;
    return value.get(object) != simdjson::SUCCESS || accept(object);
  }

 private:
  bool accept(const dom::object& object) {
    std::vector<std::string_view> keys;
    for (const auto field : object) {
      keys.push_back(field.key);
      if (!accept(field.value)) return false;
    }
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
  }

  std::size_t values_ = 0;
};

}  // namespace

struct JsonFieldReader::Parser {
  dom::parser parser;
};

JsonFieldReader::JsonFieldReader() : parser_(std::make_unique<Parser>()) {}
JsonFieldReader::~JsonFieldReader() = default;
JsonFieldReader::JsonFieldReader(JsonFieldReader&&) noexcept = default;

std::optional<std::string_view> JsonFieldReader::string(std::string_view text, std::string_view key) {
  if (text.size() > kLongest || may_escape_surrogates(text)) return std::nullopt;
  dom::parser& parser = parser_->parser;
  if (parser.capacity() == 0 && parser.allocate(1 << 12, kDeepest) != simdjson::SUCCESS) return std::nullopt;
  dom::element root;
  dom::object object;
  std::string_view value;
  const bool copy = true;  // it reads beyond the end of what it is given
  if (parser.parse(text.data(), text.size(), copy).get(root) != simdjson::SUCCESS) return std::nullopt;
  if (root.get(object) != simdjson::SUCCESS || !Rules().accept(root)) return std::nullopt;
  if (object.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

}  // namespace chargpt
