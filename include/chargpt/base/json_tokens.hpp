#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace chargpt {

// What JSON (RFC 8259) is made of below its structure, read character by character.

/// A number.
class JsonNumber {
 public:
  /// Whether the number goes on with `c`, which is then taken.
  bool take(char c);
  /// Whether it may end here.
  bool complete() const;

 private:
  /// What was read last.
  enum class Part { nothing, minus, zero, integer, point, fraction, exponent, sign, power };
  Part part_ = Part::nothing;
};

/// What stands between a string's quotation marks.
class JsonString {
 public:
  struct Taken {
    std::size_t read = 0, written = 0;  ///< bytes
    std::string_view fault{};           ///< what is wrong with the byte behind those that were read, if anything
  };
  /// Takes bytes from the front of `text`, up to the string's end, and writes what they stand for to `to`, in UTF-8.
  /// There must be room for text.size() + kMore bytes, all of which may be written to: in them ends an escape that may
  /// have begun before them.
  Taken take(std::string_view text, char* to);
  static constexpr std::size_t kMore = 4;
  bool ended() const { return next_ == Next::nothing; }

 private:
  enum class Next {
    plain,
    escape,         ///< what follows a backslash
    digit,          ///< of a \u escape
    low_backslash,  ///< the \u escape that follows the first half of a character beyond U+FFFF
    low_u,
    nothing,  ///< the string has ended
  };

  std::string_view take_part(const char*& at, const char* end, char*& to);
  std::string_view take_mark(const char*& at);
  std::string_view take_escape(const char*& at, char*& to);
  std::string_view take_digits(const char*& at, const char* end, char*& to);
  std::string_view take_low(const char*& at, char wanted);
  std::string_view take_unit(char*& to);
  void expect_digits();

  Next next_ = Next::plain;
  int digits_left_ = 0;
  std::uint32_t unit_ = 0, high_ = 0;  ///< of UTF-16: the one that is read, and the first half before it
};

}  // namespace chargpt
