#include "chargpt/base/byte_source.hpp"

#include <algorithm>

namespace chargpt {
namespace {

constexpr std::size_t kPiece = 1 << 16;

}  // namespace

std::size_t TextSource::read(std::span<char> buffer) {
  const std::size_t count = rest_.copy(buffer.data(), buffer.size());
  rest_.remove_prefix(count);
  return count;
}

std::size_t FileSource::read(std::span<char> buffer) {
  const std::size_t count = file_.read(offset_, buffer);
  offset_ += count;
  return count;
}

std::size_t PieceSource::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    if (given_ == piece_.size()) {
      piece_.clear();
      given_ = 0;
      make(piece_);
      if (piece_.empty()) break;
    }
    const std::size_t count = piece_.copy(buffer.data() + filled, buffer.size() - filled, given_);
    given_ += count;
    filled += count;
  }
  return filled;
}

std::string read_all(ByteSource& source) {
  std::string bytes;
  for (std::size_t size = 0, got = kPiece; got == kPiece; size += got) {
    bytes.resize(size + kPiece);
    got = source.read({bytes.data() + size, kPiece});
    bytes.resize(size + got);
  }
  return bytes;
}

}  // namespace chargpt
