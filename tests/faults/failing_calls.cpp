// Loaded before the C library (LD_PRELOAD), this stands in the way of the system calls by which a program changes or
// opens files, counts those that concern one folder, writes them down, and has one of them fail. From the environment:
//
//   FAULT_FOLDER   absolute path; calls on files in it count
//   FAULT_TRACE    file that gets a line for each of these calls: NAME PATH
//   FAULT_AT       number, from 1 on, of the call that fails; without it none does
//   FAULT_KIND     an errno value; "kill": the process is killed instead of the call; "short": from this call on,
//   write()
//                  takes one byte at most

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Plan {
  std::string folder = setting("FAULT_FOLDER");
  std::string trace = setting("FAULT_TRACE");
  long at = std::atol(setting("FAULT_AT").c_str());
  std::string kind = setting("FAULT_KIND");
  long count = 0;
  bool is_short = false;
  std::array<std::string, 1024> paths{};  ///< of open descriptors that concern the folder

  bool concerns(const std::string& path) const { return !folder.empty() && path.starts_with(folder); }
};

Plan& plan() {
  static Plan the_plan;
  return the_plan;
}

/// Neither of the two ways to the system below is one that this file stands in.
void write_down(const std::string& line) {
  if (plan().trace.empty()) return;
  const long file = syscall(SYS_openat, AT_FDCWD, plan().trace.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  syscall(SYS_write, file, line.data(), line.size());
  syscall(SYS_close, file);
}

/// True when this call is to fail; errno is set then.
bool fails(const char* name, const std::string& path) {
  if (!plan().concerns(path)) return false;
  ++plan().count;
  write_down(std::string(name) + " " + path + "\n");
  if (plan().count != plan().at) return false;
  if (plan().kind == "kill") raise(SIGKILL);
  plan().is_short = plan().kind == "short";
  if (plan().is_short) return false;
  errno = std::atoi(plan().kind.c_str());
  return true;
}

std::string absolute(int folder, const char* path) {
  if (path[0] == '/') return path;
  std::array<char, 4096> base{};
  const std::string link = folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(folder);
  const long length = syscall(SYS_readlink, link.c_str(), base.data(), base.size() - 1);
  return length <= 0 ? path : std::string(base.data(), static_cast<std::size_t>(length)) + "/" + path;
}

bool tracked(int descriptor) {
  return descriptor >= 0 && static_cast<std::size_t>(descriptor) < plan().paths.size() &&
         !plan().paths[static_cast<std::size_t>(descriptor)].empty();
}

const std::string& path_of(int descriptor) { return plan().paths[static_cast<std::size_t>(descriptor)]; }

int track(long descriptor, const std::string& path) {
  if (descriptor >= 0 && static_cast<std::size_t>(descriptor) < plan().paths.size() && plan().concerns(path)) {
    plan().paths[static_cast<std::size_t>(descriptor)] = path;
  }
  return static_cast<int>(descriptor);
}

int open_at(int folder, const char* path, int flags, mode_t mode) {
  const std::string whole = absolute(folder, path);
  const bool writes = (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0;
  if (fails(writes ? "create" : "open", whole)) return -1;
  return track(syscall(SYS_openat, folder, path, flags, mode), whole);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(folder, path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (tracked(descriptor)) {
    if (fails("write", path_of(descriptor))) return -1;
    if (plan().is_short && count > 1) count = 1;
  }
  return syscall(SYS_write, descriptor, bytes, count);
}

int fsync(int descriptor) {
  if (tracked(descriptor) && fails("fsync", path_of(descriptor))) return -1;
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

/// Like the system's: the descriptor is gone even where close() reports an error.
int close(int descriptor) {
  if (!tracked(descriptor)) return static_cast<int>(syscall(SYS_close, descriptor));
  const std::string path = std::exchange(plan().paths[static_cast<std::size_t>(descriptor)], "");
  const bool failed = fails("close", path);
  const int error = errno;
  const long result = syscall(SYS_close, descriptor);
  if (!failed) return static_cast<int>(result);
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  if (fails("rename", absolute(AT_FDCWD, to))) return -1;
  return static_cast<int>(syscall(SYS_rename, from, to));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned int flags) noexcept {
  if (fails("rename", absolute(to_folder, to))) return -1;
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int unlink(const char* path) noexcept {
  if (fails("unlink", absolute(AT_FDCWD, path))) return -1;
  return static_cast<int>(syscall(SYS_unlink, path));
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  if (fails("unlink", absolute(folder, path))) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (fails("mkdir", absolute(AT_FDCWD, path))) return -1;
  return static_cast<int>(syscall(SYS_mkdir, path, mode));
}

int ftruncate(int descriptor, off_t size) noexcept {
  if (tracked(descriptor) && fails("truncate", path_of(descriptor))) return -1;
  return static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
}

}  // extern "C"
