#include "chargpt/base/token_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "chargpt/base/file.hpp"
#include "descriptor.hpp"

namespace chargpt {
namespace {

constexpr std::string_view kTemporary = ".tmp-";
constexpr std::string_view kAdvice =
    "; ids of texts are kept there: name another folder with data.cache, or set it to off, which takes 4 bytes of "
    "memory a character";

/// Whether the open file is still the one at `path`.
bool is_at(const Descriptor& file, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(file.get(), &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

void make_cache_folder(const std::string& folder) {
  try {
    make_folders(folder);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}{}", error.what(), kAdvice));
  }
}

/// Waits until no other process has it.
void wait_for_lock(const Descriptor& file, const std::string& path, const PreparationEvents& events) {
  for (bool told = false; !try_lock(file, path, kAdvice); told = true) {
    if (!told && events.notice) events.notice("waiting for another process, which prepares the same text");
    if (events.stopped && events.stopped()) throw Interrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// The file at `path`, locked. While one waits, the one before may have renamed or removed it.
Descriptor open_locked(const std::string& path, const PreparationEvents& events) {
  while (true) {
    Descriptor file = open_output(path, O_RDWR);
    wait_for_lock(file, path, events);
    if (is_at(file, path)) return file;
  }
}

/// Removes what killed processes left: what nobody has locked.
void remove_unfinished(const std::string& folder, const std::string& but) {
  for (const std::string& name : names_in(folder)) {
    const std::string path = folder + "/" + name;
    if (!name.starts_with(kTemporary) || path == but) continue;
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.get() >= 0 && try_lock(file, path, kAdvice) && is_at(file, path)) ::unlink(path.c_str());
  }
}

std::string user_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string cache = variable("XDG_CACHE_HOME");
  const std::string home = variable("HOME");
  if (cache.starts_with('/')) return cache;  // a relative path is to be ignored, says the specification
  if (!home.empty()) return home + "/.cache";
  throw Error(ExitCode::cannot_create,
              fmt::format("neither XDG_CACHE_HOME nor HOME is set, so that there is no folder for caches{}", kAdvice));
}

}  // namespace

std::string cache_folder(const DataConfig& data, std::optional<std::uint64_t> bytes) {
  if (!bytes || data.cache == "off") return "";
  if (data.cache != "auto") return data.cache;
  return *bytes < kCachedFrom ? "" : user_cache() + "/chargpt/texts";
}

std::optional<UnnamedFile> unnamed_cache_file(const DataConfig& data, const std::string& what) {
  if (data.cache == "off") return std::nullopt;
  try {
    const std::string folder = cache_folder(data, kCachedFrom);
    make_folders(folder);
    return UnnamedFile(folder,
                       fmt::format("{} (in a file without a name in {}, which data.cache names)", what, folder));
  } catch (const Error& error) {
    if (data.cache == "auto") return std::nullopt;
    throw Error(
        error.code(),
        fmt::format("{}; name another folder, or set data.cache to off, which takes memory instead", error.what()));
  }
}

TokenCache::TokenCache(std::string folder, Json key)
    : folder_(std::move(folder)),
      key_(std::move(key)),
      hash_(xxh3_128(to_json_line(key_))),
      path_(fmt::format("{}/{}.tokens", folder_, hash_)) {}

std::shared_ptr<const TokenFile> TokenCache::find(const std::function<void(const std::string&)>& notice) const {
  std::error_code ignored;  // what cannot be looked at will say so when it is written
  if (!std::filesystem::exists(path_, ignored)) return nullptr;
  try {
    auto file = std::make_shared<const TokenFile>(path_);
    return file->description().at("key") == key_ ? file : nullptr;
  } catch (const Error& error) {
    if (notice) notice(fmt::format("warning: {}; the text is prepared anew", error.what()));
    return nullptr;
  }
}

void TokenCache::replace(const std::string& temporary,
                         const std::function<void(const std::string& path)>& write) const {
  try {
    write(temporary);
    if (std::rename(temporary.c_str(), path_.c_str()) != 0) {
      throw Error(ExitCode::io, fmt::format("cannot replace {}: {}", path_, reason(errno)));
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder_);
}

std::shared_ptr<const TokenFile> TokenCache::find_or_write(const std::function<void(const std::string& path)>& write,
                                                           const PreparationEvents& events) const {
  if (auto file = find(events.notice)) return file;
  const std::string temporary = fmt::format("{}/{}{}.tokens", folder_, kTemporary, hash_);
  make_cache_folder(folder_);
  const Descriptor locked = open_locked(temporary, events);
  if (auto file = find({})) {  // another process was faster
    ::unlink(temporary.c_str());
    return file;
  }
  remove_unfinished(folder_, temporary);
  replace(temporary, write);
  return std::make_shared<const TokenFile>(path_);
}

}  // namespace chargpt
