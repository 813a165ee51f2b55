#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chargpt/base/file.hpp"
#include "chargpt/base/file_reader.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/offsets.hpp"
#include "chargpt/base/unnamed_file.hpp"

namespace chargpt {

// A token file holds the ids of a prepared text. It is a cache, made and read on one machine: integers are in its byte
// order (little-endian).
//
//   blocks    of two streams for each section: its ids, 16 or 32 bits wide, and the packed sizes of its documents (see
//             OffsetIndex); all but a stream's last block have 1 MiB; in any order
//   index     the description's size and text (JSON); number of bytes of an id; number of sections; for each section
//             its documents' number, their end, the bytes of their sizes, the number of their groups and those; then of
//             both streams the number of blocks, and for each block where it lies and its XXH3-64; every number has 64
//             bits
//   trailer   where the index lies, its size, its XXH3-64, and "chargpt tokens 3"
//
// The trailer comes last, so that a file that was not finished, or was cut, has none.

/// Writes a token file from its beginning to its end.
class TokenFileWriter {
 public:
  /// id_bytes: 2 or 4. Creates or truncates the file. Errors: cannot_create, io; also from all that follows.
  TokenFileWriter(const std::string& path, std::size_t sections, std::size_t id_bytes);
  TokenFileWriter(const UnnamedFile& file, std::size_t sections, std::size_t id_bytes);
  /// Adds ids, 0 <= id < 256^id_bytes, at the end of a section.
  void append(std::size_t section, std::span<const std::int32_t> ids);
  /// Adds a document of `size` ids at the end of a section, sooner or later than they.
  void add_document(std::size_t section, std::int64_t size);
  /// Writes through to the disk.
  void finish(const Json& description);

 private:
  struct Block {
    std::uint64_t offset, checksum;
  };
  struct Stream {
    std::string pending;  // what the block that is being filled holds, and what comes behind it
    std::vector<Block> blocks;
  };
  struct Section {
    Stream ids, sizes;
    OffsetIndex documents;
  };
  void write_block(Stream& stream);

  FileWriter file_;
  std::size_t id_bytes_;
  std::uint64_t size_ = 0;
  std::vector<Section> sections_;
};

/// Reads one. A block is checked against its checksum when it is first read from.
class TokenFile {
 public:
  /// sizes_in_memory: bytes of a section's packed sizes that are read at once and kept; more are read when they are
  /// wanted. Errors: no_input (there is none), io (cut short, damaged, or not one).
  explicit TokenFile(FileReader file, std::uint64_t sizes_in_memory = 4 << 20);
  explicit TokenFile(const std::string& path) : TokenFile(FileReader(path)) {}
  const std::string& path() const { return file_.path(); }
  const Json& description() const { return description_; }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  /// Where the documents of a section lie. The sizes of very many are read from the file, with the errors of read().
  const Offsets& documents(std::size_t section) const { return sections_.at(section).documents; }
  /// The ids of a section from `position` on, as many as `ids` has room for, which must be there. Error(io) that names
  /// the block when it does not fit its checksum, and when the file was cut or written to since it was opened. Several
  /// threads may read at once.
  void read(std::size_t section, std::int64_t position, std::span<std::int32_t> ids) const;

 private:
  struct Block {
    std::uint64_t offset, checksum;
  };
  struct Stream {
    std::uint64_t size = 0;  ///< bytes
    std::vector<Block> blocks;
    std::unique_ptr<std::atomic<bool>[]> verified;  ///< by block
  };
  struct Section {
    Stream ids, sizes;
    Offsets documents;
  };
  class Index;

  void read_index(std::string_view bytes, std::uint64_t sizes_in_memory);
  Offsets offsets(OffsetIndex index, const Stream& sizes, std::uint64_t in_memory) const;
  void read(const Stream& stream, std::uint64_t at, std::span<char> bytes) const;
  void verify(const Stream& stream, std::size_t block) const;
  void require_unchanged() const;
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;  // with advice, where the file is in use

  FileReader file_;
  FileStamp opened_;  // as the file was then
  Json description_;
  std::size_t id_bytes_ = 0;
  std::vector<Section> sections_;
  bool is_open_ = false;
};

}  // namespace chargpt
