#include "chargpt/base/offsets.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace chargpt {
namespace {

constexpr int kBits = 7;  // of a size in each byte
constexpr unsigned kMore = 0x80;

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

/// The size that untrusted bytes begin with, which lose it.
std::int64_t take_size(std::string_view& bytes) {
  std::int64_t size = 0;
  for (int shift = 0; shift < std::numeric_limits<std::int64_t>::digits && !bytes.empty(); shift += kBits) {
    const unsigned byte = byte_at(bytes, 0);
    bytes.remove_prefix(1);
    size |= std::int64_t{byte & (kMore - 1)} << shift;
    if (byte < kMore) return size;
  }
  throw std::out_of_range("a size");
}

}  // namespace

Offsets Offsets::unpacked(std::int64_t pieces, std::string_view packed) {
  Offsets offsets;
  offsets.packed_.reserve(packed.size());
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t size = take_size(packed);
    if (size > std::numeric_limits<std::int64_t>::max() - offsets.end_) throw std::out_of_range("a sum of sizes");
    offsets.add(size);
  }
  if (!packed.empty()) throw std::out_of_range("what follows the sizes");
  return offsets;
}

void Offsets::add(std::int64_t size) {
  if (pieces_ % kGroup == 0) groups_.push_back({end_, packed_.size()});
  ++pieces_;
  end_ += size;
  auto rest = static_cast<std::uint64_t>(size);
  for (; rest >= kMore; rest >>= kBits) packed_ += static_cast<char>(rest % kMore + kMore);
  packed_ += static_cast<char>(rest);
}

std::int64_t Offsets::read(std::size_t& at) const {
  std::uint64_t size = 0;
  for (int shift = 0;; shift += kBits) {
    const unsigned byte = byte_at(packed_, at++);
    size |= std::uint64_t{byte % kMore} << shift;
    if (byte < kMore) return static_cast<std::int64_t>(size);
  }
}

std::int64_t Offsets::start(std::int64_t piece) const {
  if (piece == pieces_) return end_;
  auto [start, at] = groups_[static_cast<std::size_t>(piece / kGroup)];
  for (std::int64_t before = piece % kGroup; before > 0; --before) start += read(at);
  return start;
}

std::int64_t Offsets::piece_at(std::int64_t position) const {
  const auto behind = std::upper_bound(groups_.begin(), groups_.end(), position,
                                       [](std::int64_t wanted, const Group& group) { return wanted < group.start; });
  const auto group = behind - 1;
  std::int64_t piece = (group - groups_.begin()) * kGroup;
  std::size_t at = group->at;
  for (std::int64_t end = group->start + read(at); end <= position; end += read(at)) ++piece;
  return piece;
}

}  // namespace chargpt
