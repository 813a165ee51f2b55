#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "chargpt/base/file_reader.hpp"

namespace chargpt {

/// Bytes to be read one after the other.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// Fills `buffer` from its front with the next bytes and returns how many: fewer than asked for only at the end.
  virtual std::size_t read(std::span<char> buffer) = 0;
};

/// The bytes of a text that outlives this.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  std::size_t read(std::span<char> buffer) override;

 private:
  std::string_view rest_;
};

/// The bytes of a file. Errors as FileReader.
class FileSource : public ByteSource {
 public:
  explicit FileSource(FileReader file) : file_(std::move(file)) {}
  std::size_t read(std::span<char> buffer) override;

 private:
  FileReader file_;
  std::uint64_t offset_ = 0;
};

/// A source that makes its bytes in pieces of any size and hands them out in those that are asked for.
class PieceSource : public ByteSource {
 public:
  std::size_t read(std::span<char> buffer) final;

 protected:
  /// Appends some bytes to `piece`, or none at the end.
  virtual void make(std::string& piece) = 0;

 private:
  std::string piece_;
  std::size_t given_ = 0;
};

/// All that is left.
std::string read_all(ByteSource& source);

}  // namespace chargpt
