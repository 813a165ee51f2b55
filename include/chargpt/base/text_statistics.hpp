#pragma once

#include <cstddef>

#include "chargpt/base/json.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {

/// So many different lines, and documents, are remembered to find those that stand there already: 8 bytes of 3/4 of
/// 2^23 slots, 64 MiB.
inline constexpr std::size_t kRemembered = 6'000'000;

/// What a text is made of; docs/formats.md describes the members. Lines are those of each document; a line of white
/// space alone counts for no duplicate. The text is read in pieces, and its memory does not grow beyond what
/// `remembered` hashes take: duplicates of more different lines or documents are counted in the first of them only.
/// Errors as TextReader.
Json text_statistics(TextReader& text, ThreadPool& pool, const TextReader::Progress& progress = {},
                     std::size_t remembered = kRemembered);

}  // namespace chargpt
