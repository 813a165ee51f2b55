#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "chargpt/base/error.hpp"

namespace chargpt {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// The system's words for an errno value.
std::string reason(int error);

/// Which exit code it is when something new can't be created: io for a full or faulty disk, cannot_create otherwise.
ExitCode creation_fault(int error);

/// Opens with O_CREAT | O_CLOEXEC and `flags`. Errors: cannot_create, io. They name `wanted`, which is what a temporary
/// file is to become.
Descriptor open_output(const std::string& path, int flags, const std::string& wanted);
inline Descriptor open_output(const std::string& path, int flags) { return open_output(path, flags, path); }

/// Takes the lock of an open file (flock), or false where another holds it. Error(cannot_create) that ends with
/// `advice`.
bool try_lock(const Descriptor& file, const std::string& path, std::string_view advice = "");

/// Writes everything, whatever the number of calls it takes. False where `descriptor` is a pipe that nobody reads any
/// more. Error(io) naming `path`.
bool write_all(int descriptor, std::string_view bytes, const std::string& path);

/// Removes a file, or a folder with all it holds; it is no error if there is none. Error(io).
void remove_tree(const std::string& path);

}  // namespace chargpt
