#include "chargpt/base/spool.hpp"

#include <fmt/format.h>

#include <utility>

#include "chargpt/base/memory.hpp"
#include "chargpt/base/token_cache.hpp"

namespace chargpt {

Spool::Spool(DataConfig data, std::string what) : data_(std::move(data)), what_(std::move(what)) {}

void Spool::append(std::string_view bytes) {
  const bool were_few = size_ < kCachedFrom;
  size_ += bytes.size();
  if (were_few && size_ >= kCachedFrom) move_to_file();
  if (file_) {
    writer_->write(bytes);
  } else {
    require_memory_for(bytes.size());
    bytes_ += bytes;
  }
}

void Spool::move_to_file() {
  file_ = unnamed_cache_file(data_, "the bytes of " + what_);
  if (!file_) return;
  writer_.emplace(file_->writer());
  writer_->write(std::exchange(bytes_, {}));
}

/// Before the string takes twice what it has.
void Spool::require_memory_for(std::size_t more) const {
  if (bytes_.size() < kCachedFrom || bytes_.size() + more <= bytes_.capacity()) return;
  require_memory(2 * bytes_.capacity(), available_memory(), fmt::format("the bytes of {}, which are kept,", what_),
                 "save them as a file, and give that, or let data.cache name a folder");
}

std::unique_ptr<ByteSource> Spool::source() const {
  if (file_) return std::make_unique<FileSource>(file_->reader());
  return std::make_unique<TextSource>(bytes_);
}

}  // namespace chargpt
