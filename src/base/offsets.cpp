#include "chargpt/base/offsets.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace chargpt {
namespace {

/// Whether there are as many groups as there should be, each behind the one before, and all within what there is.
bool is_sound(const OffsetIndex& index) {
  const std::int64_t full = index.pieces / OffsetIndex::kGroup, left = index.pieces % OffsetIndex::kGroup;
  if (index.pieces < 0 || std::ssize(index.groups) != full + (left > 0 ? 1 : 0)) return false;
  OffsetIndex::Group before{0, 0};
  for (const OffsetIndex::Group& group : index.groups) {
    if (group.start < before.start || group.at < before.at) return false;
    before = group;
  }
  return before.start <= index.end && before.at <= index.bytes;
}

}  // namespace

void OffsetIndex::add(std::int64_t size, std::string& packed) {
  if (pieces % kGroup == 0) groups.push_back({end, bytes});
  ++pieces;
  end += size;
  const std::size_t before = packed.size();
  auto rest = static_cast<std::uint64_t>(size);
  for (; rest >= kMore; rest >>= kBits) packed += static_cast<char>(rest % kMore + kMore);
  packed += static_cast<char>(rest);
  bytes += packed.size() - before;
}

Offsets::Offsets(const OffsetIndex& index, std::string packed) : packed_(std::move(packed)) {
  std::string again;
  for (std::string_view rest = packed_; !rest.empty();) {
    const std::int64_t size = take_size(rest);
    if (size > std::numeric_limits<std::int64_t>::max() - index_.end) throw std::out_of_range("a sum of sizes");
    index_.add(size, again);
  }
  if (index_ != index || again != packed_) throw std::out_of_range("sizes of documents");
}

Offsets::Offsets(OffsetIndex index, Source source) : index_(std::move(index)), source_(std::move(source)) {
  if (!is_sound(index_)) throw std::out_of_range("sizes of documents");
}

std::string_view Offsets::packed_groups(std::size_t first, std::size_t count, std::string& memory) const {
  const std::size_t behind = std::min(first + count, index_.groups.size());
  const std::uint64_t begin = index_.groups[first].at;
  const std::uint64_t end = behind < index_.groups.size() ? index_.groups[behind].at : index_.bytes;
  if (!source_) return std::string_view(packed_).substr(begin, end - begin);
  memory.resize(end - begin);
  source_(begin, memory);
  return memory;
}

std::int64_t Offsets::start(std::int64_t piece) const {
  if (piece == pieces()) return end();
  const std::int64_t first = piece / OffsetIndex::kGroup * OffsetIndex::kGroup;
  auto start = static_cast<std::uint64_t>(index_.groups[static_cast<std::size_t>(piece / OffsetIndex::kGroup)].start);
  std::int64_t at = first;
  if (at == piece) return static_cast<std::int64_t>(start);
  for_sizes_from(first, [&](std::int64_t size) {
    start += static_cast<std::uint64_t>(size);
    return ++at < piece;
  });
  return static_cast<std::int64_t>(start);
}

std::int64_t Offsets::piece_at(std::int64_t position) const {
  const auto behind =
      std::upper_bound(index_.groups.begin(), index_.groups.end(), position,
                       [](std::int64_t wanted, const OffsetIndex::Group& group) { return wanted < group.start; });
  const auto group = behind - 1;
  std::int64_t piece = (group - index_.groups.begin()) * OffsetIndex::kGroup;
  auto end = static_cast<std::uint64_t>(group->start);
  for_sizes_from(piece, [&](std::int64_t size) {
    end += static_cast<std::uint64_t>(size);
    return end <= static_cast<std::uint64_t>(position) && ++piece < pieces();
  });
  return piece;
}

}  // namespace chargpt
