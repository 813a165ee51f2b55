#include "chargpt/base/script.hpp"

#include <algorithm>
#include <array>

#include "chargpt/base/unicode.hpp"

namespace chargpt {
namespace {

struct Block {
  char32_t first, last;
  std::string_view script;
};

/// Blocks of Unicode in order (its Blocks.txt) with the script that their letters are in.
constexpr std::array kBlocks =
    std::to_array<Block>({{0x0041, 0x024F, "Latin"},     {0x0370, 0x03FF, "Greek"},    {0x0400, 0x052F, "Cyrillic"},
                          {0x0530, 0x058F, "Armenian"},  {0x0590, 0x05FF, "Hebrew"},   {0x0600, 0x06FF, "Arabic"},
                          {0x0750, 0x077F, "Arabic"},    {0x08A0, 0x08FF, "Arabic"},   {0x0900, 0x097F, "Devanagari"},
                          {0x0980, 0x09FF, "Bengali"},   {0x0A00, 0x0A7F, "Gurmukhi"}, {0x0A80, 0x0AFF, "Gujarati"},
                          {0x0B80, 0x0BFF, "Tamil"},     {0x0C00, 0x0C7F, "Telugu"},   {0x0C80, 0x0CFF, "Kannada"},
                          {0x0D00, 0x0D7F, "Malayalam"}, {0x0E00, 0x0E7F, "Thai"},     {0x10A0, 0x10FF, "Georgian"},
                          {0x1100, 0x11FF, "Hangul"},    {0x1200, 0x139F, "Ethiopic"}, {0x1780, 0x17FF, "Khmer"},
                          {0x1E00, 0x1EFF, "Latin"},     {0x1F00, 0x1FFF, "Greek"},    {0x2E80, 0x2FDF, "Han"},
                          {0x3005, 0x3007, "Han"},       {0x3040, 0x309F, "Hiragana"}, {0x30A0, 0x30FF, "Katakana"},
                          {0x3130, 0x318F, "Hangul"},    {0x3400, 0x4DBF, "Han"},      {0x4E00, 0x9FFF, "Han"},
                          {0xAC00, 0xD7FF, "Hangul"},    {0xF900, 0xFAFF, "Han"},      {0xFB50, 0xFDFF, "Arabic"},
                          {0xFE70, 0xFEFF, "Arabic"},    {0x20000, 0x323AF, "Han"}});

}  // namespace

std::string_view script(char32_t code_point) {
  if (char_class(code_point) != CharClass::letter) return "Common";
  const auto* const next = std::upper_bound(kBlocks.begin(), kBlocks.end(), code_point,
                                            [](char32_t c, const Block& block) { return c < block.first; });
  const bool inside = next != kBlocks.begin() && code_point <= std::prev(next)->last;
  return inside ? std::prev(next)->script : "Other";
}

}  // namespace chargpt
