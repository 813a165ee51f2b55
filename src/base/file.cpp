#include "chargpt/base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "chargpt/base/file_reader.hpp"
#include "descriptor.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// EINVAL says that this kind of file (a device, a folder on some network file systems) knows no syncing. Any other
/// error means lost data, and the kernel forgets it after one report: it is never asked again.
void sync(int descriptor, const std::string& path) {
  int result = 0;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EINVAL) {
    throw Error(ExitCode::io, fmt::format("cannot write {} through to the disk: {}", path, reason(errno)));
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Why a file can't be created. That a name is not there is said of the folder, the only one that has to be.
std::string creation_reason(const std::string& path, int error) {
  const std::string folder = folder_of(path);
  std::error_code ignored;
  if (error != ENOENT || fs::exists(folder, ignored)) return reason(error);
  return fmt::format("the folder {} does not exist; make it first, or name a file in another folder", folder);
}

/// The hidden name of a file that is to replace `path`. A folder there could not be replaced: that is said before
/// anything is written.
std::string temporary_for(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(ExitCode::cannot_create,
                fmt::format("cannot create {}: it is a folder, the name of a file is wanted", path));
  }
  const fs::path name(path);
  return (name.parent_path() / hidden_name("tmp", name.filename().string())).string();
}

/// Whether the number at the end of a hidden name is that of this process, which writes nothing now, or of none.
bool is_of_ended_process(std::string_view name) {
  const std::string_view digits = name.substr(name.rfind('-') + 1);
  pid_t process = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), process);
  if (error != std::errc() || end != digits.data() + digits.size() || process <= 0) return false;
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

/// A new file at `temporary`, for the same eyes as the one at `path`, if there is one.
int open_beside(const std::string& temporary, const std::string& path) {
  Descriptor file = open_output(temporary, O_WRONLY | O_TRUNC, path);
  struct stat old {};
  if (::stat(path.c_str(), &old) == 0) ::fchmod(file.get(), old.st_mode & 0777);
  return file.release();
}

std::string hex_digits(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::string digits;
  for (const unsigned char byte : canonical.digest) digits += fmt::format("{:02x}", byte);
  return digits;
}

}  // namespace

std::string reason(int error) { return std::system_category().message(error); }

ExitCode creation_fault(int error) {
  const bool disk = error == EIO || error == ENOSPC || error == EDQUOT || error == EFBIG;
  return disk ? ExitCode::io : ExitCode::cannot_create;
}

Descriptor open_output(const std::string& path, int flags, const std::string& wanted) {
  Descriptor file(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0666));
  if (file.get() >= 0) return file;
  const int error = errno;
  throw Error(creation_fault(error), fmt::format("cannot create {}: {}", wanted, creation_reason(wanted, error)));
}

bool try_lock(const Descriptor& file, const std::string& path, std::string_view advice) {
  int result = 0;
  do {
    result = ::flock(file.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  throw Error(ExitCode::cannot_create, fmt::format("cannot lock {}: {}{}", path, reason(errno), advice));
}

bool write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) throw Error(ExitCode::io, fmt::format("cannot write {}: {}", path, reason(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw Error(ExitCode::io, fmt::format("cannot remove {}: {}", path, error.message()));
}

std::string read_file(const std::string& path, std::uint64_t limit, ExitCode too_large) {
  const FileReader file(path);
  const std::uint64_t size = file.stamp().size;
  if (size > limit) {
    throw Error(too_large, fmt::format("cannot read {}: it has {} bytes, at most {} are accepted", path, size, limit));
  }
  std::string contents(size, '\0');
  contents.resize(file.read(0, contents));  // fewer where the file was cut while it was read
  return contents;
}

FileWriter::FileWriter(std::string path)
    : path_(std::move(path)), descriptor_(open_output(path_, O_WRONLY | O_TRUNC).release()) {}

FileWriter::FileWriter(int descriptor, std::string name) : path_(std::move(name)), descriptor_(descriptor) {}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileWriter::write(std::string_view bytes) {
  Descriptor file(std::exchange(descriptor_, -1));  // stays closed after a failure: a later close() can't succeed
  const bool has_reader = write_all(file.get(), bytes, path_);
  descriptor_ = file.release();
  return has_reader;
}

void FileWriter::close() {
  Descriptor file(std::exchange(descriptor_, -1));
  sync(file.get(), path_);
  // EINTR leaves nothing to do: the descriptor is gone and the data is on the disk.
  if (::close(file.release()) != 0 && errno != EINTR) {
    throw Error(ExitCode::io, fmt::format("cannot close {}: {}", path_, reason(errno)));
  }
}

std::string hidden_name(std::string_view kind, std::string_view name) {
  return fmt::format(".{}-{}-{}", kind, name, ::getpid());
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(ExitCode::io, fmt::format("cannot list {}: {}", folder, error.message()));
  }
  return names;
}

void remove_leftovers(const std::string& folder, const std::vector<std::string_view>& prefixes) {
  for (const std::string& name : names_in(folder)) {
    const bool ours = std::any_of(prefixes.begin(), prefixes.end(),
                                  [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (ours && is_of_ended_process(name)) remove_tree(folder + "/" + name);
  }
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), temporary_(temporary_for(path_)), writer_(open_beside(temporary_, path_), path_) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::close() {
  writer_.close();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw Error(ExitCode::io, fmt::format("cannot replace {}: {}", path_, reason(errno)));
  }
  temporary_.clear();
  sync_folder(folder_of(path_));
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.close();
}

void make_folders(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  const std::string parent = folder_of(path);
  if (parent != path) make_folders(parent);
  if (::mkdir(path.c_str(), 0777) == 0) return sync_folder(parent);
  const int error = errno;
  if (fs::is_directory(path, ignored)) return;  // "a/b/" after "a/b", or another process was faster
  throw Error(creation_fault(error), fmt::format("cannot create folder {}: {}", path, reason(error)));
}

void sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) throw Error(ExitCode::io, fmt::format("cannot open folder {}: {}", path, reason(errno)));
  sync(folder.get(), path);
}

std::uint64_t xxh3_64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string xxh3_128(std::string_view bytes) { return hex_digits(XXH3_128bits(bytes.data(), bytes.size())); }

struct Xxh3Hasher::State {
  XXH3_state_t value;
};

Xxh3Hasher::Xxh3Hasher() : state_(new State) { XXH3_128bits_reset(&state_->value); }

Xxh3Hasher::~Xxh3Hasher() { delete state_; }

void Xxh3Hasher::update(std::string_view bytes) { XXH3_128bits_update(&state_->value, bytes.data(), bytes.size()); }

std::string Xxh3Hasher::digest() const { return hex_digits(XXH3_128bits_digest(&state_->value)); }

// Both lengths of XXH3 make the same of their bytes until the digest.
std::uint64_t Xxh3Hasher::digest_64() const { return XXH3_64bits_digest(&state_->value); }

void Xxh3Hasher::start_anew() { XXH3_128bits_reset(&state_->value); }

}  // namespace chargpt
