#include "chargpt/base/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "descriptor.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as Linux follows

/// The number of this process's descriptor that a path stands for, as /dev/fd/3 does; -1 for other paths.
int own_descriptor(const fs::path& path) {
  std::error_code error;
  const fs::path own = fs::canonical("/proc/self/fd", error);
  if (error || fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error) != own) return -1;
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  return fault == std::errc() && end == name.data() + name.size() ? number : -1;
}

/// Where the links of a path lead, but not through a descriptor of this process: that link may name a file which is
/// gone, or what is no file.
fs::path target_of(fs::path path) {
  std::error_code ignored;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, ignored) && own_descriptor(path) < 0; ++i) {
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return path;
}

bool is_device_or_pipe(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// A second descriptor of what `number` is open on: opened by its name, a file would be written from its start on, over
/// what goes there by `number`.
int duplicate(int number, const std::string& path) {
  const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) return copy;
  throw Error(creation_fault(errno), fmt::format("cannot write to {}: {}", path, reason(errno)));
}

}  // namespace

OutputFile::OutputFile(const std::string& path) {
  const fs::path target = target_of(path);
  const int own = own_descriptor(target);
  if (own >= 0) {
    stream_.emplace(duplicate(own, path), path);
  } else if (is_device_or_pipe(target)) {
    stream_.emplace(path);
  } else {
    remove_leftovers(target.has_parent_path() ? target.parent_path().string() : ".",
                     {fmt::format(".tmp-{}-", target.filename().string())});
    file_.emplace(target.string());
  }
}

void OutputFile::write(std::string_view bytes) {
  if (file_) {
    file_->write(bytes);
  } else if (has_reader_) {
    has_reader_ = stream_->write(bytes);
  }
}

void OutputFile::close() {
  if (file_) {
    file_->close();
  } else if (has_reader_) {
    stream_->close();
  }
}

void write_output_file(const std::string& path, std::string_view contents) {
  OutputFile file(path);
  file.write(contents);
  file.close();
}

}  // namespace chargpt
