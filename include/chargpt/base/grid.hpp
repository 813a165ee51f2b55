#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chargpt/base/json.hpp"

namespace chargpt {

/// What a grid file asks for: points, each an object of config keys and values ({"model.width": 64}) to be put over one
/// base config, and how often each is repeated with another seed.
struct Grid {
  std::vector<Json> points;
  std::int64_t seeds = 1;
};

/// Most points, and most runs, that a sweep may have.
inline constexpr std::int64_t kMaxSweepRuns = 10'000;

/// Reads a grid file, which has any of these members; without the first three the base config is the only point:
///
///     {"grid":   {"model.width": [64, 128], "model.dropout": [0, 0.1]},         every combination, the last key
///     fastest
///      "random": {"count": 20, "model.dropout": {"uniform": [0, 0.4]},          drawn
///                 "optimizer.learning_rate": {"log_uniform": [1e-4, 1e-2]}, "model.layers": {"choice": [2, 4]}},
///      "list":   [{"model.layers": 2, "model.heads": 2}],                       as it stands
///      "seeds":  3}
///
/// Points are those of grid, then of random, then of list. Draw i of a key is a function of (seed, key, i) alone: more
/// draws or other keys leave it as it is. Draws of an integer key are whole numbers, both ends among them; other
/// numbers are rounded to six digits, within the ends. Errors: Error(usage) naming `source` and what is wrong: a member
/// or config key that does not exist (with the nearest), a value or end that the key does not take, an empty list, more
/// than kMaxSweepRuns points.
Grid parse_grid(const std::string& text, const std::string& source, std::uint64_t seed);

}  // namespace chargpt
