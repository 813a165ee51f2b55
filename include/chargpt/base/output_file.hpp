#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chargpt/base/file.hpp"

namespace chargpt {

/// What a command writes where its user says. A file there is replaced as a whole by close(), or stays as it was (see
/// AtomicFile); a symbolic link to it stays one. A pipe, a terminal or another device, and what this process was given
/// open (/dev/stdout, /dev/fd/3), get the pieces as they come, until their reader has gone. Errors: cannot_create, io.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  void write(std::string_view bytes);
  void close();
  /// Whether what was written is with its reader already, close() or not.
  bool streams() const { return stream_.has_value(); }

 private:
  std::optional<FileWriter> stream_;
  std::optional<AtomicFile> file_;  ///< where there is no stream
  bool has_reader_ = true;          ///< of the stream
};

/// The same in one go.
void write_output_file(const std::string& path, std::string_view contents);

}  // namespace chargpt
