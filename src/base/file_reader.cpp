#include "chargpt/base/file_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "descriptor.hpp"

namespace chargpt {
namespace {

bool is_absence(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENXIO || error == ELOOP || error == ENAMETOOLONG;
}

[[noreturn]] void fail(ExitCode code, const std::string& path, const std::string& why) {
  throw Error(code, fmt::format("cannot read {}: {}", path, why));
}

struct stat status_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(ExitCode::io, path, reason(errno));
  return status;
}

/// Takes over what was just opened for reading, whatever it is but a folder. Failed calls are told by errno.
Descriptor require_file(int descriptor, const std::string& path) {
  Descriptor file(descriptor);
  if (file.get() < 0) fail(is_absence(errno) ? ExitCode::no_input : ExitCode::io, path, reason(errno));
  if (S_ISDIR(status_of(file.get(), path).st_mode)) {
    fail(ExitCode::no_input, path, "it is a folder, a file is wanted");
  }
  return file;
}

/// O_NONBLOCK so that a FIFO without a writer is looked at rather than waited for.
Descriptor open_regular_file(const std::string& path) {
  Descriptor file = require_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), path);
  const auto mode = status_of(file.get(), path).st_mode;
  if (!S_ISREG(mode)) fail(ExitCode::no_input, path, "it is a device or pipe, a regular file is wanted");
  return file;
}

/// Appends some bytes of what follows to `bytes`. False at the end.
bool read_piece(int descriptor, std::string& bytes, const std::string& name) {
  constexpr std::size_t kPiece = 1 << 16;
  const std::size_t size = bytes.size();
  bytes.resize(size + kPiece);
  ssize_t got = 0;
  do {
    got = ::read(descriptor, bytes.data() + size, kPiece);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail(ExitCode::io, name, reason(errno));
  bytes.resize(size + static_cast<std::size_t>(got));
  return got > 0;
}

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string read_input(const std::string& path, std::uint64_t limit) {
  const bool standard = path == "-";
  const std::string name = input_name(path);
  const Descriptor file = require_file(
      standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC), name);
  std::string bytes;
  while (read_piece(file.get(), bytes, name)) {
    if (bytes.size() <= limit) continue;
    fail(ExitCode::bad_data, name,
         fmt::format("it has more than {} bytes, or no end; at most so many are accepted", limit));
  }
  return bytes;
}

FileReader::FileReader(std::string path) : path_(std::move(path)), descriptor_(open_regular_file(path_).release()) {}

FileReader::FileReader(int descriptor, std::string name) : path_(std::move(name)), descriptor_(descriptor) {}

FileReader::FileReader(FileReader&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileStamp FileReader::stamp() const {
  const struct stat status = status_of(descriptor_, path_);
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

std::size_t FileReader::read(std::uint64_t offset, std::span<char> buffer) const {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got =
        ::pread(descriptor_, buffer.data() + filled, buffer.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ExitCode::io, path_, reason(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace chargpt
