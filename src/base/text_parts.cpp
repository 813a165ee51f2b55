#include "chargpt/base/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chargpt/base/random.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

/// Parts of n things in a row: train [0, train_end), val [train_end, val_end), test [val_end, n).
struct Bounds {
  std::uint64_t train_end, val_end;
};

Bounds contiguous_bounds(std::uint64_t n, double val, double test) {
  const auto floor_of = [n](double fraction) {
    return static_cast<std::uint64_t>(std::max(0.0, std::floor(fraction * static_cast<double>(n))));
  };
  return {floor_of(1 - val - test), floor_of(1 - test)};
}

Bounds document_bounds(std::uint64_t n, double val, double test) {
  const auto count = [n](double fraction) -> std::uint64_t {
    return fraction > 0 ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(fraction * static_cast<double>(n))) : 0;
  };
  const std::uint64_t val_end = n - std::min(n, count(test));
  return {val_end - std::min(val_end, count(val)), val_end};
}

Part part_of(std::uint64_t i, const Bounds& bounds) {
  return i < bounds.train_end ? Part::train : i < bounds.val_end ? Part::val : Part::test;
}

/// Cuts texts one after the other at characters.
std::vector<PartPiece> cut_texts(const std::vector<std::uint64_t>& sizes, double val, double test) {
  const Bounds bounds = contiguous_bounds(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}), val, test);
  std::vector<PartPiece> pieces;
  std::uint64_t begin = 0;
  for (const std::uint64_t size : sizes) {
    const std::uint64_t end = begin + size;
    while (begin < end) {
      const Part part = part_of(begin, bounds);
      const std::uint64_t part_end = part == Part::train ? bounds.train_end : part == Part::val ? bounds.val_end : end;
      pieces.push_back({part, std::min(end, part_end) - begin});
      begin += pieces.back().size;
    }
  }
  return pieces;
}

std::vector<PartPiece> deal_by_hash(const TextSurvey& text, double val, double test) {
  std::vector<PartPiece> pieces;
  for (std::size_t d = 0; d < text.sizes.size(); ++d) {
    const double unit = text.units[d];
    pieces.push_back({unit < test ? Part::test : unit < test + val ? Part::val : Part::train, text.sizes[d]});
  }
  return pieces;
}

/// Documents in file order, or dealt by the seed.
std::vector<PartPiece> deal_documents(const TextSurvey& text, const DataConfig& data, double val, double test) {
  const std::uint64_t n = text.sizes.size();
  const bool in_file_order = data.split == SplitMethod::contiguous;
  const Bounds bounds = in_file_order ? contiguous_bounds(n, val, test) : document_bounds(n, val, test);
  const Permutation rank_of(n, static_cast<std::uint64_t>(data.split_seed), Purpose::split, 0);
  std::vector<PartPiece> pieces;
  for (std::uint64_t d = 0; d < n; ++d) {
    pieces.push_back({part_of(in_file_order ? d : rank_of(d), bounds), text.sizes[d]});
  }
  return pieces;
}

bool splits_documents(SplitMethod method, bool end_mark) {
  switch (method) {
    case SplitMethod::document:
    case SplitMethod::hashed:
      return true;
    case SplitMethod::automatic:
    case SplitMethod::contiguous:
      break;
  }
  return end_mark;
}

}  // namespace

HashedUnit::HashedUnit(std::int64_t seed) { hash_.update(fmt::format("{}\n", seed)); }

void HashedUnit::add(std::u32string_view characters) { hash_.update(encode_utf8(characters)); }

double HashedUnit::unit() const {
  constexpr std::size_t kDigits = 13;  // of 4 bits: what a double holds
  return static_cast<double>(std::stoull(hash_.digest().substr(0, kDigits), nullptr, 16)) / std::exp2(4 * kDigits);
}

std::vector<PartPiece> deal_parts(const TextSurvey& text, bool end_mark, const DataConfig& data) {
  const double val = data.val_path.empty() ? data.val_fraction : 0;
  const double test = data.test_path.empty() ? data.test_fraction : 0;
  if (!splits_documents(data.split, end_mark)) return cut_texts(text.sizes, val, test);
  if (!end_mark && text.sizes.size() == 1) {
    throw Error(ExitCode::usage,
                fmt::format("data.split = {} deals out whole documents, but {} is one text: set data.split to "
                            "contiguous, data.format to lines or jsonl, or give several files",
                            name(data.split), data.path));
  }
  if (data.split == SplitMethod::hashed) return deal_by_hash(text, val, test);
  return deal_documents(text, data, val, test);
}

}  // namespace chargpt
