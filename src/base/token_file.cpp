#include "chargpt/base/token_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace chargpt {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kBlock = 1 << 20;
constexpr std::string_view kMagic = "chargpt tokens 3";

struct Trailer {
  std::uint64_t index_offset, index_size, index_checksum;
  std::array<char, kMagic.size()> magic;
};

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

void put(std::string& bytes, std::uint64_t number) { bytes += bytes_of(&number, 1); }

template <class Narrow>
void append_narrow(std::string& bytes, std::span<const std::int32_t> ids) {
  std::array<Narrow, 2048> narrow;
  while (!ids.empty()) {
    const auto piece = ids.first(std::min(ids.size(), narrow.size()));
    std::transform(piece.begin(), piece.end(), narrow.begin(), [](std::int32_t id) { return static_cast<Narrow>(id); });
    bytes += bytes_of(narrow.data(), piece.size());
    ids = ids.subspan(piece.size());
  }
}

}  // namespace

TokenFileWriter::TokenFileWriter(const std::string& path, std::size_t sections, std::size_t id_bytes)
    : file_(path), id_bytes_(id_bytes), sections_(sections) {}

TokenFileWriter::TokenFileWriter(const UnnamedFile& file, std::size_t sections, std::size_t id_bytes)
    : file_(file.writer()), id_bytes_(id_bytes), sections_(sections) {}

void TokenFileWriter::append(std::size_t section, std::span<const std::int32_t> ids) {
  Stream& to = sections_.at(section).ids;
  while (!ids.empty()) {
    const std::size_t count = std::min(ids.size(), (kBlock - to.pending.size()) / id_bytes_);
    id_bytes_ == 2 ? append_narrow<std::uint16_t>(to.pending, ids.first(count))
                   : append_narrow<std::int32_t>(to.pending, ids.first(count));
    ids = ids.subspan(count);
    if (to.pending.size() == kBlock) write_block(to);
  }
}

void TokenFileWriter::add_document(std::size_t section, std::int64_t size) {
  Section& to = sections_.at(section);
  to.documents.add(size, to.sizes.pending);
  if (to.sizes.pending.size() >= kBlock) write_block(to.sizes);
}

void TokenFileWriter::write_block(Stream& stream) {
  const std::string_view block = std::string_view(stream.pending).substr(0, kBlock);
  stream.blocks.push_back({size_, xxh3_64(block)});
  file_.write(block);
  size_ += block.size();
  stream.pending.erase(0, block.size());
}

void TokenFileWriter::finish(const Json& description) {
  const std::string text = to_json_line(description);
  std::string index;
  const auto put_list = [&index](const auto& values) {
    put(index, values.size());
    index += bytes_of(values.data(), values.size());
  };
  put(index, text.size());
  index += text;
  put(index, id_bytes_);
  put(index, sections_.size());
  for (Section& section : sections_) {
    for (Stream* stream : {&section.ids, &section.sizes}) {
      if (!stream->pending.empty()) write_block(*stream);
    }
    put(index, static_cast<std::uint64_t>(section.documents.pieces));
    put(index, static_cast<std::uint64_t>(section.documents.end));
    put(index, section.documents.bytes);
    put_list(section.documents.groups);
    put_list(section.ids.blocks);
    put_list(section.sizes.blocks);
  }
  Trailer trailer{size_, index.size(), xxh3_64(index), {}};
  kMagic.copy(trailer.magic.data(), kMagic.size());
  file_.write(index);
  file_.write(bytes_of(&trailer, 1));
  file_.close();
}

/// Reads the index from its front. What its checksum covers is what was written, so that only its end is watched.
class TokenFile::Index {
 public:
  explicit Index(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// Of things that take at least a byte each.
  std::uint64_t count() {
    const std::uint64_t count = number();
    if (count > rest_.size()) throw std::out_of_range("a number of things");
    return count;
  }
  std::string_view text() { return take(number()); }
  OffsetIndex documents() {
    OffsetIndex documents;
    documents.pieces = static_cast<std::int64_t>(number());
    documents.end = static_cast<std::int64_t>(number());
    documents.bytes = number();
    documents.groups = list<OffsetIndex::Group>();
    return documents;
  }
  template <class T>
  std::vector<T> list() {
    const std::uint64_t count = number();
    if (count > rest_.size() / sizeof(T)) throw std::out_of_range("a list");
    std::vector<T> values(count);
    const std::string_view bytes = take(count * sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw std::out_of_range("a part");
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }

  std::string_view rest_;
};

TokenFile::TokenFile(FileReader file, std::uint64_t sizes_in_memory) : file_(std::move(file)), opened_(file_.stamp()) {
  const std::uint64_t size = opened_.size;
  Trailer trailer{};
  const std::span trailer_bytes(reinterpret_cast<char*>(&trailer), sizeof trailer);
  if (size < sizeof trailer || file_.read(size - sizeof trailer, trailer_bytes) != sizeof trailer ||
      std::string_view(trailer.magic.data(), kMagic.size()) != kMagic) {
    refuse(fmt::format("its end, at byte {}, is not that of a finished file of prepared text", size));
  }
  const std::uint64_t before_trailer = size - sizeof trailer;
  if (trailer.index_size > before_trailer || trailer.index_offset != before_trailer - trailer.index_size) {
    refuse(fmt::format("it has {} bytes, more or fewer than were written", size));
  }
  std::string bytes(trailer.index_size, '\0');
  if (file_.read(trailer.index_offset, bytes) != bytes.size() || xxh3_64(bytes) != trailer.index_checksum) {
    refuse("its index does not fit its checksum");
  }
  try {
    read_index(bytes, sizes_in_memory);
  } catch (const std::out_of_range& error) {
    refuse(fmt::format("its index cannot be read ({})", error.what()));
  }
  is_open_ = true;
}

void TokenFile::read_index(std::string_view bytes, std::uint64_t sizes_in_memory) {
  Index index(bytes);
  const std::string_view text = index.text();
  description_ = parse_json(text, {.source = path(), .code = ExitCode::io, .max_values = text.size()});
  id_bytes_ = index.number();
  if (id_bytes_ != sizeof(std::uint16_t) && id_bytes_ != sizeof(std::int32_t)) throw std::out_of_range("an id");
  sections_.resize(index.count());
  for (Section& section : sections_) {
    OffsetIndex documents = index.documents();
    const auto ids = static_cast<std::uint64_t>(documents.end);
    if (ids > opened_.size || documents.bytes > opened_.size) throw std::out_of_range("a section");
    section.ids.size = ids * id_bytes_;
    section.sizes.size = documents.bytes;
    for (Stream* stream : {&section.ids, &section.sizes}) {
      stream->blocks = index.list<Block>();
      if (stream->blocks.size() != (stream->size + kBlock - 1) / kBlock) throw std::out_of_range("a section's blocks");
      stream->verified = std::make_unique<std::atomic<bool>[]>(stream->blocks.size());
    }
    section.documents = offsets(std::move(documents), section.sizes, sizes_in_memory);
  }
}

Offsets TokenFile::offsets(OffsetIndex index, const Stream& sizes, std::uint64_t in_memory) const {
  if (sizes.size > in_memory) {
    return {std::move(index), [this, &sizes](std::uint64_t at, std::span<char> bytes) {
              read(sizes, at, bytes);
              require_unchanged();
            }};
  }
  std::string packed(sizes.size, '\0');
  read(sizes, 0, packed);
  return {index, std::move(packed)};
}

void TokenFile::refuse(const std::string& what) const {
  throw Error(ExitCode::io, fmt::format("{}: {}", path(), what));
}

void TokenFile::fail(const std::string& what) const {
  std::error_code ignored;
  const bool has_name = std::filesystem::exists(path(), ignored);
  refuse(is_open_ && has_name ? what + "; delete this file, and the text is prepared anew" : what);
}

void TokenFile::read(std::size_t section, std::int64_t position, std::span<std::int32_t> ids) const {
  const Section& from = sections_.at(section);
  const auto first = static_cast<std::size_t>(position);
  if (position < 0 || first + ids.size() > static_cast<std::size_t>(from.documents.end())) {
    throw std::out_of_range(fmt::format("ids {} to {} of {}", first, first + ids.size(), from.documents.end()));
  }
  const std::uint64_t at = first * id_bytes_;
  if (id_bytes_ == sizeof(std::int32_t)) {
    read(from.ids, at, {reinterpret_cast<char*>(ids.data()), ids.size_bytes()});
  } else {
    std::array<std::uint16_t, 2048> narrow;
    for (std::size_t done = 0; done < ids.size(); done += narrow.size()) {
      const std::size_t count = std::min(narrow.size(), ids.size() - done);
      read(from.ids, at + done * id_bytes_, {reinterpret_cast<char*>(narrow.data()), count * id_bytes_});
      std::copy_n(narrow.begin(), count, ids.begin() + static_cast<std::ptrdiff_t>(done));
    }
  }
  require_unchanged();
}

void TokenFile::read(const Stream& stream, std::uint64_t at, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const std::size_t block = at / kBlock, within = at % kBlock;
    const auto part = bytes.first(std::min(bytes.size(), kBlock - within));
    if (!stream.verified[block].load(std::memory_order_relaxed)) verify(stream, block);
    const std::uint64_t offset = stream.blocks[block].offset + within;
    if (file_.read(offset, part) != part.size()) {
      fail(fmt::format("cut short while it was read: {} bytes at byte {} are not there any more", part.size(), offset));
    }
    bytes = bytes.subspan(part.size());
    at += part.size();
  }
}

/// What was read before the file changed is what was checked when its block was first read.
void TokenFile::require_unchanged() const {
  const FileStamp now = file_.stamp();
  if (now.size != opened_.size || now.modified != opened_.modified) fail("something wrote to it while it was in use");
}

void TokenFile::verify(const Stream& stream, std::size_t block) const {
  std::string bytes(std::min<std::uint64_t>(kBlock, stream.size - block * kBlock), '\0');
  const auto [offset, checksum] = stream.blocks[block];
  const std::size_t got = file_.read(offset, bytes);
  if (got < bytes.size()) {
    fail(fmt::format("cut short: it ends at byte {}, within the block of {} bytes at {}", offset + got, bytes.size(),
                     offset));
  }
  if (xxh3_64(bytes) != checksum) {
    fail(fmt::format("damaged: the block of {} bytes at byte {} does not fit its checksum", bytes.size(), offset));
  }
  stream.verified[block].store(true, std::memory_order_relaxed);
}

}  // namespace chargpt
