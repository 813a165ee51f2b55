#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/token_file.hpp"
#include "chargpt/base/unnamed_file.hpp"

namespace chargpt {

/// Files from this size on, in bytes as they are stored, are worth a file of ids.
inline constexpr std::uint64_t kCachedFrom = 16 << 20;

/// The folder that data.cache names for ids of a text of `bytes` (nothing: of standard input); empty: they are kept in
/// memory. auto: $XDG_CACHE_HOME/chargpt/texts, else ~/.cache/chargpt/texts, for kCachedFrom bytes or more.
/// Error(cannot_create) when neither variable is set.
std::string cache_folder(const DataConfig& data, std::optional<std::uint64_t> bytes);

/// A file in the folder that data.cache names, for what nobody else wants and would take much memory. Nothing where
/// that is off, or auto and its folder cannot be written to. `what`: names it in messages. Errors: cannot_create, io.
std::optional<UnnamedFile> unnamed_cache_file(const DataConfig& data, const std::string& what);

/// One token file in a folder of them. Its name is a hash of its key, which is all that its ids depend on; nothing else
/// is ever taken for it. The folder may be emptied at any time.
class TokenCache {
 public:
  /// key: an object; it stands in the file's description as "key".
  TokenCache(std::string folder, Json key);
  const std::string& path() const { return path_; }
  const Json& key() const { return key_; }

  /// The file, if it is there and sound; a damaged one is told to `notice` and left to be replaced.
  std::shared_ptr<const TokenFile> find(const std::function<void(const std::string&)>& notice) const;
  /// The same, or what `write` writes to the path that it is given, which becomes the file when that is finished. Of
  /// processes that want it at once, one writes and the others wait. Whatever is killed leaves nothing that would be
  /// taken for the file, and what it leaves is removed by the next that writes. Errors: cannot_create, io; Interrupted
  /// while it waits.
  std::shared_ptr<const TokenFile> find_or_write(const std::function<void(const std::string& path)>& write,
                                                 const PreparationEvents& events) const;

 private:
  void replace(const std::string& temporary, const std::function<void(const std::string& path)>& write) const;

  std::string folder_;
  Json key_;
  std::string hash_, path_;
};

}  // namespace chargpt
