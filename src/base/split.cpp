#include "chargpt/base/split.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace chargpt {
namespace {

constexpr std::int64_t kPiece = 1 << 16;  // ids

}  // namespace

Split::Split() : Split(std::vector<std::int32_t>{}, Offsets{}) {}

Split::Split(std::vector<std::int32_t> ids, Offsets documents, bool cross)
    : memory_(std::make_shared<const InMemory>(InMemory{std::move(ids), std::move(documents)})), cross_(cross) {}

Split::Split(std::shared_ptr<const TokenFile> file, std::size_t section, bool cross)
    : file_(std::move(file)), section_(section), cross_(cross) {}

void Split::read(std::int64_t position, std::span<std::int32_t> ids) const {
  if (file_) return file_->read(section_, position, ids);
  const auto from = std::span(memory_->ids).subspan(static_cast<std::size_t>(position), ids.size());
  std::copy(from.begin(), from.end(), ids.begin());
}

std::vector<std::int32_t> Split::ids(std::int64_t begin, std::int64_t end) const {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(end - begin));
  read(begin, ids);
  return ids;
}

void Split::for_each_piece(std::int64_t begin, std::int64_t end,
                           const std::function<void(std::span<const std::int32_t>)>& use) const {
  for (; begin < end; begin += kPiece) use(ids(begin, std::min(begin + kPiece, end)));
}

void Split::for_each_document_piece(const std::function<void(std::span<const std::int32_t>, bool ended)>& use) const {
  std::vector<std::int32_t> read;
  std::span<const std::int32_t> rest;  // of what was read
  std::int64_t position = 0;           // behind it
  offsets().for_sizes_from(0, [&](std::int64_t left) {
    do {
      if (rest.empty() && left > 0) {
        if (position == size()) throw std::out_of_range("a document behind the last id");
        read = ids(position, std::min(position + kPiece, size()));
        rest = read;
        position += std::ssize(read);
      }
      const std::int64_t count = std::min(left, std::ssize(rest));
      left -= count;
      use(rest.first(static_cast<std::size_t>(count)), left == 0);
      rest = rest.subspan(static_cast<std::size_t>(count));
    } while (left > 0);
    return true;
  });
}

void Split::for_each_stretch_piece(const std::function<void(std::span<const std::int32_t>, bool ended)>& use) const {
  if (!cross_) return for_each_document_piece(use);
  std::int64_t position = 0;
  for_each_piece(0, size(), [&](std::span<const std::int32_t> ids) {
    position += std::ssize(ids);
    use(ids, position == size());
  });
}

}  // namespace chargpt
