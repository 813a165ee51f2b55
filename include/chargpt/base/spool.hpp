#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "chargpt/base/byte_source.hpp"
#include "chargpt/base/config.hpp"
#include "chargpt/base/unnamed_file.hpp"

namespace chargpt {

/// Bytes that come once, to be read as often as needed: less than kCachedFrom of them in memory, more in an
/// unnamed_cache_file(), or in memory where there is none.
class Spool {
 public:
  /// `what`: names it in messages.
  Spool(DataConfig data, std::string what);
  /// Errors: cannot_create, io; out_of_memory for more in memory than there is.
  void append(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  /// The bytes from the first one on, while this lives.
  std::unique_ptr<ByteSource> source() const;

 private:
  void move_to_file();
  void require_memory_for(std::size_t more) const;

  DataConfig data_;
  std::string what_;
  std::uint64_t size_ = 0;
  std::string bytes_;  // while there is no file
  std::optional<UnnamedFile> file_;
  std::optional<FileWriter> writer_;  // to it
};

}  // namespace chargpt
