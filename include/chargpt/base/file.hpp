#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/error.hpp"

namespace chargpt {

/// The whole of a regular file of at most `limit` bytes. Errors: no_input (missing, a folder, not a regular file), io
/// (unreadable), `too_large` code given by the caller (larger than limit), all naming the path and the system's reason.
std::string read_file(const std::string& path, std::uint64_t limit = UINT64_MAX,
                      ExitCode too_large = ExitCode::bad_data);

/// Writes to a new file through a descriptor; short writes and EINTR are handled. close() must be called to succeed: it
/// writes through to the disk (fsync) and reports what could not be written; the destructor only releases. Errors:
/// cannot_create, io.
class FileWriter {
 public:
  explicit FileWriter(std::string path);  ///< creates or truncates
  /// Takes over a descriptor that is open for writing; messages call it `name`.
  FileWriter(int descriptor, std::string name);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();
  /// False where it is a pipe that nobody reads any more: what is written to it is lost.
  bool write(std::string_view bytes);
  void close();

 private:
  std::string path_;
  int descriptor_;
};

/// A file that replaces `path` as a whole or not at all: it is written under a hidden name beside it. close() moves it
/// there (fsync, rename, fsync of the folder); where that is not reached the destructor removes it, and `path` stays as
/// it was. The new file has the permissions of the old. Errors: cannot_create (also where `path` is a folder), io; all
/// name `path`.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();
  void write(std::string_view bytes) { writer_.write(bytes); }
  void close();

 private:
  std::string path_;
  std::string temporary_;  ///< empty once it is renamed
  FileWriter writer_;
};

/// The same in one go.
void write_file_atomically(const std::string& path, std::string_view contents);

/// ".KIND-NAME-PID": what a file or folder is called in `folder` while it is not, or no longer, what its reader looks
/// for. Such names of a process that has ended are rubbish, which remove_leftovers() knows.
std::string hidden_name(std::string_view kind, std::string_view name);
/// Removes from a folder what this process or an ended one left there under a hidden name that begins with one of
/// `prefixes` (such as ".tmp-step-"). Error(io).
void remove_leftovers(const std::string& folder, const std::vector<std::string_view>& prefixes);
/// Names in a folder, in no order; none if it does not exist. Error(io).
std::vector<std::string> names_in(const std::string& folder);

/// Creates a folder and its parents. Error(cannot_create).
void make_folders(const std::string& path);
/// fsync of a folder, so that renames in it last. Error(io).
void sync_folder(const std::string& path);

/// XXH3-64 (xxHash specification).
std::uint64_t xxh3_64(std::string_view bytes, std::uint64_t seed = 0);

/// XXH3-128 (xxHash specification; canonical big-endian form), 32 lower-case hex digits.
std::string xxh3_128(std::string_view bytes);

/// The same over pieces.
class Xxh3Hasher {
 public:
  Xxh3Hasher();
  Xxh3Hasher(const Xxh3Hasher&) = delete;
  Xxh3Hasher& operator=(const Xxh3Hasher&) = delete;
  ~Xxh3Hasher();
  void update(std::string_view bytes);
  std::string digest() const;
  std::uint64_t digest_64() const;  ///< xxh3_64() of the same bytes
  void start_anew();

 private:
  struct State;
  State* state_;
};

}  // namespace chargpt
