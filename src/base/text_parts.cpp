#include "chargpt/base/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
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

PartBounds contiguous_bounds(std::uint64_t n, double val, double test) {
  const auto floor_of = [n](double fraction) {
    return static_cast<std::uint64_t>(std::max(0.0, std::floor(fraction * static_cast<double>(n))));
  };
  return {floor_of(1 - val - test), floor_of(1 - test)};
}

PartBounds document_bounds(std::uint64_t n, double val, double test) {
  const auto count = [n](double fraction) -> std::uint64_t {
    return fraction > 0 ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(fraction * static_cast<double>(n))) : 0;
  };
  const std::uint64_t val_end = n - std::min(n, count(test));
  return {val_end - std::min(val_end, count(val)), val_end};
}

/// The parts of n documents in file order, or dealt by the seed.
PartList deal_documents(std::uint64_t n, const DataConfig& data, double val, double test, ThreadPool& pool) {
  constexpr std::uint64_t kAtOnce = 1 << 14;
  const bool in_file_order = data.split == SplitMethod::contiguous;
  const PartBounds bounds = in_file_order ? contiguous_bounds(n, val, test) : document_bounds(n, val, test);
  const Permutation rank(n, static_cast<std::uint64_t>(data.split_seed), Purpose::split, 0);
  PartList parts(n);
  // Only the documents that are not for training are looked for, the fewer ones: each takes dozens of random numbers.
  pool.run(static_cast<std::int64_t>((n - bounds.train_end + kAtOnce - 1) / kAtOnce), [&](std::int64_t task, int) {
    const std::uint64_t begin = bounds.train_end + static_cast<std::uint64_t>(task) * kAtOnce;
    for (std::uint64_t r = begin; r < std::min(n, begin + kAtOnce); ++r) {
      parts.set(in_file_order ? r : rank.inverse(r), bounds.part_of(r));
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

Part PartList::operator[](std::size_t i) const {
  return static_cast<Part>(bytes_[i / kPerByte] >> (2 * (i % kPerByte)) & 3U);
}

std::size_t PartList::count(Part part) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < size_; ++i) count += (*this)[i] == part ? 1 : 0;
  return count;
}

void PartList::push_back(Part part) {
  if (size_ % kPerByte == 0) bytes_.push_back(0);
  set(size_++, part);
}

void PartList::set(std::size_t i, Part part) {
  const auto bits = static_cast<unsigned>(part) << (2 * (i % kPerByte));
  std::atomic_ref(bytes_[i / kPerByte]).fetch_or(static_cast<std::uint8_t>(bits), std::memory_order_relaxed);
}

std::uint64_t PartBounds::end_of(Part part) const {
  switch (part) {
    case Part::train:
      return train_end;
    case Part::val:
      return val_end;
    case Part::test:
      break;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t PartBounds::size_of(Part part, std::uint64_t n) const {
  const std::uint64_t begin = part == Part::train ? 0 : part == Part::val ? train_end : val_end;
  return std::min(n, end_of(part)) - std::min(n, begin);
}

TextParts whole(Part part) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  switch (part) {
    case Part::train:
      return {PartBounds{kAll, kAll}, PartList()};
    case Part::val:
      return {PartBounds{0, kAll}, PartList()};
    case Part::test:
      break;
  }
  return {PartBounds{0, 0}, PartList()};
}

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

TextParts deal_parts(TextSurvey text, bool end_mark, const DataConfig& data, ThreadPool& pool) {
  const auto [val, test] = fractions(data);
  if (!splits_documents(data.split, end_mark)) return {contiguous_bounds(text.characters, val, test), PartList()};
  if (!end_mark && text.documents == 1) {
    throw Error(ExitCode::usage,
                fmt::format("data.split = {} deals out whole documents, but {} is one text: set data.split to "
                            "contiguous, data.format to lines or jsonl, or give several files",
                            name(data.split), data.path));
  }
  if (data.split == SplitMethod::hashed) return {std::nullopt, std::move(text.hashed_parts)};
  return {std::nullopt, deal_documents(text.documents, data, val, test, pool)};
}

}  // namespace chargpt
