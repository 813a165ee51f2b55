#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace chargpt {

/// What tells, without reading it, whether a file is still the one it was. Times are in nanoseconds since 1970.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;
  bool operator==(const FileStamp&) const = default;
};

/// A regular file that is open for reading, piece by piece.
class FileReader {
 public:
  /// Errors: no_input (missing, a folder, not a regular file), io (unreadable), naming the path and the reason.
  explicit FileReader(std::string path);
  /// Takes over the descriptor of one; messages call it `name`.
  FileReader(int descriptor, std::string name);
  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&&) = delete;
  ~FileReader();

  const std::string& path() const { return path_; }
  FileStamp stamp() const;  ///< as it is now. Error(io)
  /// Fills `buffer` from byte `offset` on and returns how many bytes that were: fewer only where the file ends.
  /// Error(io). Several threads may read at once.
  std::size_t read(std::uint64_t offset, std::span<char> buffer) const;

 private:
  std::string path_;
  int descriptor_;
};

/// What messages call a path that a user names as input: "-" is standard input.
std::string input_name(const std::string& path);

/// The whole of what a user names as input: a file, a pipe or a device that comes to an end, or "-" for standard input.
/// Errors: no_input (missing, a folder), io, bad_data (more than `limit` bytes, which may have no end).
std::string read_input(const std::string& path, std::uint64_t limit);

}  // namespace chargpt
