#pragma once

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {

/// What a text is made of; docs/formats.md describes the members. Lines are those of each document; a line of white
/// space alone counts for no duplicate.
Json text_statistics(const Documents& documents);

}  // namespace chargpt
