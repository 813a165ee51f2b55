#include "chargpt/base/data_files.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) { throw Error(ExitCode::no_input, message); }

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error, ignored;  // a link that leads nowhere is no file
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    if (hidden) entry.disable_recursion_pending();
    if (!hidden && entry->is_regular_file(ignored)) files.push_back(entry->path().string());
  }
  if (error) throw Error(ExitCode::io, fmt::format("cannot read folder {}: {}", folder, error.message()));
  std::sort(files.begin(), files.end());
  if (files.empty()) fail(fmt::format("{}: no file in this folder or the folders in it", folder));
  return files;
}

/// Files only: a folder is named by itself.
std::vector<std::string> files_matching(const std::string& pattern) {
  glob_t found{};
  const int result = glob(pattern.c_str(), GLOB_BRACE, nullptr, &found);
  std::vector<std::string> files;
  for (std::size_t i = 0; result == 0 && i < found.gl_pathc; ++i) {
    if (fs::is_regular_file(found.gl_pathv[i])) files.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> data_files(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at is reported when it is read
  if (path == "-") return {path};
  if (fs::is_directory(path, ignored)) return files_below(path);
  if (fs::exists(path, ignored) || path.find_first_of("*?[{") == std::string::npos) return {path};
  if (path.find("**") != std::string::npos) {
    fail(fmt::format("{}: ** is no pattern here: name the folder alone, which means all files in it and below", path));
  }
  auto files = files_matching(path);
  if (files.empty()) fail(fmt::format("{}: no such file, and none that matches it as a pattern", path));
  return files;
}

bool is_data_file(const std::string& file, const std::string& path) {
  std::error_code ignored;  // what is not there is not the file
  const auto is_file = [&](const std::string& other) { return fs::equivalent(file, other, ignored); };
  try {
    const auto files = data_files(path);
    return std::any_of(files.begin(), files.end(), is_file);
  } catch (const Error&) {  // there are none
    return false;
  }
}

void read_standard_input(Spool& bytes, const std::function<void(std::uint64_t)>& progress) {
  constexpr int kTellMilliseconds = 100;  // also while nothing comes
  std::array<char, 1 << 16> buffer;
  while (true) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (progress && ::poll(&input, 1, kTellMilliseconds) == 0) {
      progress(bytes.size());
      continue;
    }
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ExitCode::io, fmt::format("cannot read standard input: {}", std::strerror(errno)));
    if (got == 0) return;
    bytes.append({buffer.data(), static_cast<std::size_t>(got)});
    if (progress) progress(bytes.size());
  }
}

}  // namespace chargpt
