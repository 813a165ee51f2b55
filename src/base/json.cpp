#include "chargpt/base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace chargpt {
namespace {

constexpr std::size_t kShownKey = 80;  // bytes of a key in a message: it may be as long as the file

/// Line and column (columns from 1, in bytes) of a byte offset, as "line 3, column 14".
std::string place(std::string_view text, std::size_t offset, int first_line) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = first_line + std::count(before.begin(), before.end(), '\n');
  const auto last_break = before.rfind('\n');
  const auto column = before.size() - (last_break == std::string_view::npos ? 0 : last_break + 1) + 1;
  return fmt::format("line {}, column {}", line, column);
}

/// Counts the bytes that the parser has taken, since nlohmann's SAX events carry no position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*taken_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* taken_;
};

/// What is wrong, out of "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...".
/// The message quotes what was read last, which may be as long as the text.
std::string detail(const std::string& message) {
  constexpr std::size_t kLongest = 200;
  const auto place_end = message.find(": ");
  const auto tag_end = message.find("] ");
  const auto start = place_end != std::string::npos ? place_end : tag_end;
  const std::string text = start == std::string::npos ? message : message.substr(start + 2);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

/// Builds the value with a stack of its own, so that nesting costs no call depth, and applies the rules on the way.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const JsonRules& rules, const std::size_t* taken)
      : text_(text), rules_(rules), taken_(taken) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second)
      fail(*taken_, fmt::format("key \"{}\" stands twice in one object", key.substr(0, kShownKey)));
    key_ = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    fail(position == 0 ? 0 : position - 1, detail(error.what()));
  }

  Json take() { return std::move(root_); }

 private:
  [[noreturn]] void fail(std::size_t offset, const std::string& what) const {
    throw Error(rules_.code, fmt::format("{}, {}: {}", rules_.source, place(text_, offset, rules_.first_line), what));
  }

  Json* put(Json value) {
    if (++values_ > rules_.max_values) fail(*taken_, fmt::format("more than {} values", rules_.max_values));
    if (stack_.empty()) return &(root_ = std::move(value));
    Json& parent = *stack_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    // push_back keeps insertion cheap: the ordered map would search for a duplicate that keys_ has already excluded.
    auto& object = parent.get_ref<Json::object_t&>();
    object.push_back({key_, std::move(value)});
    return &object.back().second;
  }

  bool add(Json value) {
    put(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (stack_.size() >= static_cast<std::size_t>(rules_.max_depth)) {
      fail(*taken_, fmt::format("nested deeper than {} levels", rules_.max_depth));
    }
    stack_.push_back(put(std::move(value)));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    stack_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  const JsonRules& rules_;
  const std::size_t* taken_;
  Json root_;
  std::vector<Json*> stack_;
  std::vector<std::set<std::string>> keys_;
  std::string key_;
  std::size_t values_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, const JsonRules& rules) {
  const std::size_t nul = text.find('\0');  // nlohmann's parser takes it for the end of the text
  if (nul != std::string_view::npos) {
    throw Error(rules.code, fmt::format("{}, {}: a NUL byte", rules.source, place(text, nul, rules.first_line)));
  }
  std::size_t taken = 0;
  Builder builder(text, rules, &taken);
  Json::sax_parse(CountingIterator(text.data(), &taken), CountingIterator(text.data() + text.size(), &taken), &builder);
  return builder.take();
}

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 80;
  const std::string start = Json(text.substr(0, kShown)).dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > kShown ? start + "..." : start;
}

std::string to_json_line(const Json& value) {
  try {
    return value.dump(-1, ' ', true);
  } catch (const Json::type_error& error) {
    throw Error(ExitCode::internal, fmt::format("text that is not UTF-8 in a JSON record: {}", error.what()));
  }
}

}  // namespace chargpt
