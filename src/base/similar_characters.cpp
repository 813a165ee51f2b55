#include "chargpt/base/similar_characters.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kMost = 3;

/// What is left of a character without case, marks, width and typographic form; empty for a mark.
std::string folded(char32_t code_point) {
  std::string text = encode_utf8(code_point);
  constexpr int kOptions =
      UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_STRIPMARK | UTF8PROC_CASEFOLD | UTF8PROC_LUMP;
  utf8proc_uint8_t* result = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &result, static_cast<utf8proc_option_t>(kOptions));
  if (size < 0) return text;
  std::string copy(reinterpret_cast<const char*>(result), static_cast<std::size_t>(size));
  std::free(result);
  return copy;
}

std::uint32_t distance(char32_t a, char32_t b) { return a < b ? b - a : a - b; }

}  // namespace

std::vector<char32_t> similar_characters(char32_t code_point, const std::vector<char32_t>& known) {
  std::vector<char32_t> found;
  const auto add_if = [&](const auto& like) {
    std::copy_if(known.begin(), known.end(), std::back_inserter(found), like);
  };
  const std::string meant = folded(code_point);
  if (!meant.empty()) add_if([&](char32_t other) { return folded(other) == meant; });
  if (found.empty()) add_if([&](char32_t other) { return char_class(other) == char_class(code_point); });
  const auto nearer = [&](char32_t a, char32_t b) { return distance(a, code_point) < distance(b, code_point); };
  std::stable_sort(found.begin(), found.end(), nearer);
  found.resize(std::min(found.size(), kMost));
  return found;
}

}  // namespace chargpt
