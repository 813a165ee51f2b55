#include "chargpt/base/json_tokens.hpp"

#include <utf8.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace chargpt {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_plain(char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20; }

/// The highest bit of each of eight bytes that is not plain; of those above the first such one, any.
std::uint64_t not_plain(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101, kHighest = 0x80 * kEach;
  const std::uint64_t mark = bytes ^ (kEach * '"'), backslash = bytes ^ (kEach * '\\');
  const std::uint64_t is_zero = ((mark - kEach) & ~mark) | ((backslash - kEach) & ~backslash);
  return (is_zero | ((bytes - kEach * 0x20) & ~bytes)) & kHighest;
}

constexpr std::string_view kHalf = "half of a character beyond U+FFFF without the other half";
constexpr std::uint8_t kNoDigit = 16;

/// What each byte stands for as a hexadecimal digit.
constexpr auto kHexadecimal = [] {
  constexpr std::string_view kLower = "0123456789abcdef", kUpper = "0123456789ABCDEF";
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::uint8_t i = 0; i < kNoDigit; ++i) {
    values[static_cast<unsigned char>(kLower[i])] = values[static_cast<unsigned char>(kUpper[i])] = i;
  }
  return values;
}();

/// What each byte stands for behind a backslash; 0: nothing.
constexpr auto kEscapes = [] {
  constexpr std::string_view kWritten = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  std::array<char, 256> meanings{};
  for (std::size_t i = 0; i < kWritten.size(); ++i) meanings[static_cast<unsigned char>(kWritten[i])] = kMeant[i];
  return meanings;
}();

/// Copies bytes to `to` up to the first one that is not plain.
void copy_plain(const char*& at, const char* end, char*& to) {
  for (std::uint64_t word = 0; end - at >= std::ptrdiff_t{sizeof word}; at += sizeof word, to += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    std::memcpy(to, &word, sizeof word);
    if (const std::uint64_t marks = not_plain(word); marks != 0) {
      const int plain = std::countr_zero(marks) / 8;
      at += plain;
      to += plain;
      return;
    }
  }
  while (at != end && is_plain(*at)) *to++ = *at++;
}

}  // namespace

bool JsonNumber::take(char c) {
  const bool digit = is_digit(c), exponent = c == 'e' || c == 'E';
  const auto become = [this](bool possible, Part part) {
    if (possible) part_ = part;
    return possible;
  };
  switch (part_) {
    case Part::nothing:
      return become(c == '-', Part::minus) || become(c == '0', Part::zero) || become(digit, Part::integer);
    case Part::minus:
      return become(c == '0', Part::zero) || become(digit, Part::integer);
    case Part::zero:
      return become(c == '.', Part::point) || become(exponent, Part::exponent);
    case Part::integer:
      return digit || become(c == '.', Part::point) || become(exponent, Part::exponent);
    case Part::point:
      return become(digit, Part::fraction);
    case Part::fraction:
      return digit || become(exponent, Part::exponent);
    case Part::exponent:
      return become(c == '+' || c == '-', Part::sign) || become(digit, Part::power);
    case Part::sign:
      return become(digit, Part::power);
    case Part::power:
      return digit;
  }
  return false;
}

bool JsonNumber::complete() const {
  return part_ == Part::zero || part_ == Part::integer || part_ == Part::fraction || part_ == Part::power;
}

JsonString::Taken JsonString::take(std::string_view text, char* to) {
  const char *at = text.data(), *const end = at + text.size();
  char* const start = to;
  std::string_view fault;
  while (at != end && !ended() && fault.empty()) fault = take_part(at, end, to);
  return {static_cast<std::size_t>(at - text.data()), static_cast<std::size_t>(to - start), fault};
}

/// Takes what stands next from `at` on, but not what is wrong.
std::string_view JsonString::take_part(const char*& at, const char* end, char*& to) {
  switch (next_) {
    case Next::plain:
      copy_plain(at, end, to);
      return at == end ? "" : take_mark(at);
    case Next::escape:
      return take_escape(at, to);
    case Next::digit:
      return take_digits(at, end, to);
    case Next::low_backslash:
      return take_low(at, '\\');
    case Next::low_u:
      return take_low(at, 'u');
    case Next::nothing:
      break;
  }
  return "the string has ended";
}

std::string_view JsonString::take_mark(const char*& at) {
  const char c = *at;
  if (c != '"' && c != '\\') {
    return "a control character in a string, which JSON writes as \\n, \\t or \\u and four digits";
  }
  next_ = c == '"' ? Next::nothing : Next::escape;
  ++at;
  return {};
}

std::string_view JsonString::take_escape(const char*& at, char*& to) {
  if (*at == 'u') {
    expect_digits();
  } else {
    const char meaning = kEscapes[static_cast<unsigned char>(*at)];
    if (meaning == 0) return "no escape of JSON begins so";
    *to++ = meaning;
    next_ = Next::plain;
  }
  ++at;
  return {};
}

void JsonString::expect_digits() {
  next_ = Next::digit;
  digits_left_ = 4;
  unit_ = 0;
}

std::string_view JsonString::take_digits(const char*& at, const char* end, char*& to) {
  for (; at != end; ++at) {
    const std::uint8_t digit = kHexadecimal[static_cast<unsigned char>(*at)];
    if (digit == kNoDigit) return "\\u must be followed by four hexadecimal digits";
    unit_ = unit_ << 4 | digit;
    if (--digits_left_ > 0) continue;
    const std::string_view fault = take_unit(to);
    if (fault.empty()) ++at;
    return fault;
  }
  return {};
}

std::string_view JsonString::take_unit(char*& to) {
  const bool is_high = unit_ >= 0xD800 && unit_ <= 0xDBFF, is_low = unit_ >= 0xDC00 && unit_ <= 0xDFFF;
  if (is_low != (high_ != 0)) return kHalf;
  if (is_high) {
    high_ = unit_;
    next_ = Next::low_backslash;
    return {};
  }
  to = utf8::unchecked::append(is_low ? 0x10000 + ((high_ - 0xD800) << 10) + (unit_ - 0xDC00) : unit_, to);
  high_ = 0;
  next_ = Next::plain;
  return {};
}

std::string_view JsonString::take_low(const char*& at, char wanted) {
  if (*at != wanted) return kHalf;
  next_ = Next::low_u;
  if (wanted == 'u') expect_digits();
  ++at;
  return {};
}

}  // namespace chargpt
