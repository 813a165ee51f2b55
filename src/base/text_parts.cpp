#include "chargpt/base/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "chargpt/base/random.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

/// Of the main text, for validation and test.
struct Fractions {
  double val, test;
};

Fractions fractions(const DataConfig& data) {
  return {data.val_path.empty() ? data.val_fraction : 0, data.test_path.empty() ? data.test_fraction : 0};
}

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
PartPieces cut_texts(const Offsets& texts, double val, double test) {
  const Bounds bounds = contiguous_bounds(static_cast<std::uint64_t>(texts.end()), val, test);
  PartPieces dealt;
  std::uint64_t begin = 0;
  texts.for_each_size([&](std::int64_t size) {
    const std::uint64_t end = begin + static_cast<std::uint64_t>(size);
    while (begin < end) {
      const Part part = part_of(begin, bounds);
      const std::uint64_t part_end = part == Part::train ? bounds.train_end : part == Part::val ? bounds.val_end : end;
      dealt.pieces.add(static_cast<std::int64_t>(std::min(end, part_end) - begin));
      dealt.parts.push_back(part);
      begin = std::min(end, part_end);
    }
  });
  return dealt;
}

/// The parts of n documents in file order, or dealt by the seed.
std::vector<Part> deal_documents(std::uint64_t n, const DataConfig& data, double val, double test, ThreadPool& pool) {
  constexpr std::uint64_t kAtOnce = 1 << 14;
  const bool in_file_order = data.split == SplitMethod::contiguous;
  const Bounds bounds = in_file_order ? contiguous_bounds(n, val, test) : document_bounds(n, val, test);
  const Permutation rank(n, static_cast<std::uint64_t>(data.split_seed), Purpose::split, 0);
  std::vector<Part> parts(n, Part::train);
  // Only the documents that are not for training are looked for, the fewer ones: each takes dozens of random numbers.
  pool.run(static_cast<std::int64_t>((n - bounds.train_end + kAtOnce - 1) / kAtOnce), [&](std::int64_t task, int) {
    const std::uint64_t begin = bounds.train_end + static_cast<std::uint64_t>(task) * kAtOnce;
    for (std::uint64_t r = begin; r < std::min(n, begin + kAtOnce); ++r) {
      parts[in_file_order ? r : rank.inverse(r)] = part_of(r, bounds);
    }
  });
  return parts;
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

HashedPart::HashedPart(const DataConfig& data)
    : seed_(data.split_seed), val_(fractions(data).val), test_(fractions(data).test) {
  start_anew();
}

void HashedPart::start_anew() {
  hash_.start_anew();
  hash_.update(fmt::format("{}\n", seed_));
}

void HashedPart::add(std::u32string_view characters) { hash_.update(encode_utf8(characters)); }

Part HashedPart::part() const {
  constexpr std::size_t kDigits = 13;  // of 4 bits: what a double holds
  const double unit =
      static_cast<double>(std::stoull(hash_.digest().substr(0, kDigits), nullptr, 16)) / std::exp2(4 * kDigits);
  return unit < test_ ? Part::test : unit < test_ + val_ ? Part::val : Part::train;
}

PartPieces deal_parts(TextSurvey text, bool end_mark, const DataConfig& data, ThreadPool& pool) {
  const auto [val, test] = fractions(data);
  if (!splits_documents(data.split, end_mark)) return cut_texts(text.documents, val, test);
  if (!end_mark && text.documents.pieces() == 1) {
    throw Error(ExitCode::usage,
                fmt::format("data.split = {} deals out whole documents, but {} is one text: set data.split to "
                            "contiguous, data.format to lines or jsonl, or give several files",
                            name(data.split), data.path));
  }
  auto parts = data.split == SplitMethod::hashed
                   ? std::move(text.hashed_parts)
                   : deal_documents(static_cast<std::uint64_t>(text.documents.pieces()), data, val, test, pool);
  return {std::move(text.documents), std::move(parts)};
}

}  // namespace chargpt
