#pragma once

#include <vector>

namespace chargpt {

/// Up to three of `known` that may have been meant by a character, the likeliest first: those that are the same without
/// case, marks, width and typographic form (é and e, — and -); without one, the nearest code points of its CharClass.
std::vector<char32_t> similar_characters(char32_t code_point, const std::vector<char32_t>& known);

}  // namespace chargpt
