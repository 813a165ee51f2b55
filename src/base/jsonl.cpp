#include "chargpt/base/jsonl.hpp"

#include <fmt/format.h>

#include <utility>

#include "chargpt/base/error.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The kind of value that begins with `c`; nothing where none does.
std::string_view kind_of(char c) {
  if (c == '{') return "object";
  if (c == '[') return "array";
  if (c == '"') return "string";
  if (c == 't' || c == 'f') return "boolean";
  if (c == 'n') return "null";
  return c == '-' || (c >= '0' && c <= '9') ? "number" : "";
}

constexpr const char* kLineEndInString = "the line ends within a string, in which JSON writes line feeds as \\n";

std::string_view literal_of(char c) { return c == 't' ? "true" : c == 'f' ? "false" : "null"; }

}  // namespace

JsonlReader::JsonlReader(std::string field, std::string name) : field_(std::move(field)), name_(std::move(name)) {}

JsonlText JsonlReader::read(std::string_view bytes) {
  made_.bytes.resize(bytes.size() + JsonString::kMore);
  while (!bytes.empty()) {
    if (next_ == Next::string) {
      bytes.remove_prefix(take_string(bytes));
    } else {
      take(bytes[0]);
      ++column_;
      bytes.remove_prefix(1);
    }
  }
  made_.bytes.resize(std::exchange(written_, 0));
  return std::exchange(made_, {});
}

JsonlText JsonlReader::finish() {
  end_line();
  return std::exchange(made_, {});
}

void JsonlReader::take(char c) {
  if (c == '\n') return end_line();
  switch (next_) {
    case Next::line:
    case Next::first_key:
    case Next::key:
    case Next::colon:
    case Next::first_value:
    case Next::value:
    case Next::after_value:
    case Next::line_end:
      return is_space(c) ? void() : take_mark(c);
    case Next::string:
      break;  // of which more is taken at a time
    case Next::number:
      return take_number(c);
    case Next::literal:
      return take_literal(c);
  }
}

/// Takes what is neither white space nor within a value.
void JsonlReader::take_mark(char c) {
  switch (next_) {
    case Next::line:
      if (c == '{') return open(c);
      if (c == '\xEF')
        fail("expected an object, got 0xEF: a byte order mark, perhaps of a file that was put behind another");
      if (kind_of(c).empty()) fail_expected("an object", c);
      fail_line(fmt::format("expected an object, got a JSON {}", kind_of(c)));
    case Next::first_key:
      if (c == '}') return close();
      [[fallthrough]];
    case Next::key:
      return c == '"' ? begin_string(Role::key) : fail_expected("a key in quotation marks", c);
    case Next::colon:
      if (c != ':') fail_expected("a colon behind the key", c);
      next_ = Next::value;
      return;
    case Next::first_value:
      return c == ']' ? close() : take_value(c);
    case Next::value:
      return take_value(c);
    case Next::after_value:
      return take_after_value(c);
    case Next::line_end:
      fail_expected("nothing more on the line behind its object", c);
    case Next::string:
    case Next::number:
    case Next::literal:
      break;
  }
}

void JsonlReader::take_value(char c) {
  const std::string_view kind = kind_of(c);
  const bool is_document = open_.size() == 1 && key_ == field_;
  if (kind.empty()) fail_expected("a value", c);
  if (is_document && c != '"') fail_line(fmt::format("field \"{}\" should be a string, is a JSON {}", field_, kind));
  if (c == '"') return begin_string(is_document ? Role::document : Role::other);
  if (c == '{' || c == '[') return open(c);
  if (kind == "number") {
    number_ = {};
    number_.take(c);
    next_ = Next::number;
    return;
  }
  literal_ = literal_of(c).substr(1);
  next_ = Next::literal;
}

void JsonlReader::take_after_value(char c) {
  if (c == (in_object() ? '}' : ']')) return close();
  if (c != ',') fail_expected(in_object() ? "a comma or }" : "a comma or ]", c);
  next_ = in_object() ? Next::key : Next::value;
}

void JsonlReader::begin_string(Role role) {
  role_ = role;
  string_ = {};
  if (role == Role::key) key_.clear();
  next_ = Next::string;
}

/// Takes what `bytes` begin with of a string and returns how much. All strings are written to the same place, where
/// only the document's stay.
std::size_t JsonlReader::take_string(std::string_view bytes) {
  char* const to = made_.bytes.data() + written_;
  const auto [read, written, fault] = string_.take(bytes, to);
  column_ += static_cast<std::int64_t>(read);
  if (!fault.empty()) fail(read < bytes.size() && bytes[read] == '\n' ? kLineEndInString : std::string(fault));
  if (role_ == Role::document) written_ += written;
  if (role_ == Role::key) key_.append(to, written);
  if (key_.size() > kLongestKey) fail_line(fmt::format("a key of more than {} bytes", kLongestKey));
  if (string_.ended()) end_string();
  return read;
}

void JsonlReader::end_string() {
  next_ = role_ == Role::key ? Next::colon : Next::after_value;
  if (role_ == Role::key) end_key();
  if (role_ == Role::document) found_ = true;
}

void JsonlReader::end_key() {
  if (!keys_.insert(xxh3_64(key_, open_.back()))) fail(fmt::format("key {} stands twice in one object", shown(key_)));
  if (keys_.size() > kMostKeys) fail_line(fmt::format("more than {} keys", kMostKeys));
}

void JsonlReader::take_number(char c) {
  if (number_.take(c)) return;
  if (!number_.complete()) fail_expected("more of a number", c);
  next_ = Next::after_value;
  take(c);
}

void JsonlReader::take_literal(char c) {
  if (c != literal_[0]) fail_expected("true, false or null", c);
  literal_.remove_prefix(1);
  if (literal_.empty()) next_ = Next::after_value;
}

void JsonlReader::open(char c) {
  if (open_.size() == kDeepest) fail(fmt::format("nested deeper than {} levels", kDeepest));
  open_.push_back(c == '{' ? ++objects_ : 0);
  next_ = c == '{' ? Next::first_key : Next::first_value;
}

void JsonlReader::close() {
  open_.pop_back();
  next_ = open_.empty() ? Next::line_end : Next::after_value;
}

void JsonlReader::end_line() {
  if (next_ == Next::line_end) {
    if (!found_) fail_line(fmt::format("no field \"{}\"; name the field that holds the text with data.field", field_));
    made_.ends.push_back(written_);
    keys_ = {};
    found_ = false;
    next_ = Next::line;
  }
  if (next_ == Next::string) fail(kLineEndInString);
  if (next_ != Next::line) fail("the line ends within its object");
  ++line_;
  column_ = 0;
}

void JsonlReader::fail(const std::string& what) const {
  fail_bad_data(fmt::format("{}, line {}, column {}: {}", name_, line_, column_, what));
}

void JsonlReader::fail_expected(const std::string& what, char got) const {
  const bool is_shown = got > ' ' && got <= '~';
  fail(fmt::format("expected {}, got {}", what,
                   is_shown ? fmt::format("'{}'", got) : fmt::format("0x{:02X}", static_cast<unsigned char>(got))));
}

void JsonlReader::fail_line(const std::string& what) const {
  fail_bad_data(fmt::format("{}, line {}: {}", name_, line_, what));
}

}  // namespace chargpt
