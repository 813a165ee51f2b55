#include "chargpt/base/unpack.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <new>
#include <string_view>
#include <utility>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kBuffer = 1 << 17;
constexpr std::size_t kMagic = 4;  // bytes that tell what a file is

[[noreturn]] void fail(const std::string& name, const char* kind, const std::string& what) {
  throw Error(ExitCode::bad_data, fmt::format("{}: it is packed by {}, but {}; get the file again", name, kind, what));
}

/// Gives back first what was taken from a source to look at it.
class LookedAtSource : public ByteSource {
 public:
  LookedAtSource(std::string taken, std::unique_ptr<ByteSource> rest)
      : taken_(std::move(taken)), rest_(std::move(rest)) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = taken_.copy(buffer.data(), buffer.size());
    taken_.erase(0, count);
    return count + rest_->read(buffer.subspan(count));
  }

 private:
  std::string taken_;
  std::unique_ptr<ByteSource> rest_;
};

/// Packed bytes in a buffer, and where those are that were not unpacked yet.
class Packed {
 public:
  explicit Packed(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)) {}
  /// What is left in the buffer; when nothing is, it is filled anew. Empty at the end.
  std::string_view rest() {
    if (at_ == size_) {
      size_ = bytes_->read(buffer_);
      at_ = 0;
    }
    return {buffer_.data() + at_, size_ - at_};
  }
  void take(std::size_t count) {
    at_ += count;
    taken_ += count;
  }
  std::uint64_t taken() const { return taken_; }

 private:
  std::unique_ptr<ByteSource> bytes_;
  std::array<char, kBuffer> buffer_;
  std::size_t at_ = 0, size_ = 0;
  std::uint64_t taken_ = 0;
};

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

/// A file may hold several members one after the other (RFC 1952, section 2.2).
class GzipSource : public PieceSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> bytes, std::string name) : packed_(std::move(bytes)), name_(std::move(name)) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    owner_.reset(&stream_);
  }

 protected:
  void make(std::string& piece) override {
    while (piece.empty()) {
      const std::string_view rest = packed_.rest();
      if (rest.empty() && result_ == Z_STREAM_END) return;
      if (result_ == Z_STREAM_END) inflateReset(&stream_);
      inflate_some(rest, piece);
    }
  }

 private:
  void inflate_some(std::string_view rest, std::string& piece) {
    piece.resize(kBuffer);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));  // zlib reads only
    stream_.avail_in = static_cast<uInt>(rest.size());
    stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_out = kBuffer;
    result_ = inflate(&stream_, Z_NO_FLUSH);
    if (result_ == Z_BUF_ERROR) fail(name_, "gzip", "it ends too soon");
    if (result_ != Z_OK && result_ != Z_STREAM_END) {
      fail(name_, "gzip", fmt::format("damaged near byte {}", packed_.taken()));
    }
    packed_.take(rest.size() - stream_.avail_in);
    piece.resize(kBuffer - stream_.avail_out);
  }

  Packed packed_;
  std::string name_;
  z_stream stream_{};
  std::unique_ptr<z_stream, EndInflate> owner_;
  int result_ = Z_OK;
};

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdSource : public PieceSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> bytes, std::string name)
      : packed_(std::move(bytes)), name_(std::move(name)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }

 protected:
  void make(std::string& piece) override {
    while (piece.empty()) {
      const std::string_view rest = packed_.rest();
      const bool more_to_write = full_ && left_ != 0;
      if (rest.empty() && !more_to_write) {
        if (left_ != 0) fail(name_, "zstd", "it ends too soon");
        return;
      }
      decompress_some(rest, piece);
    }
  }

 private:
  void decompress_some(std::string_view rest, std::string& piece) {
    piece.resize(kBuffer);
    ZSTD_inBuffer in = {rest.data(), rest.size(), 0};
    ZSTD_outBuffer out = {piece.data(), piece.size(), 0};
    left_ = ZSTD_decompressStream(stream_.get(), &out, &in);
    packed_.take(in.pos);
    if (ZSTD_isError(left_) != 0) {
      fail(name_, "zstd", fmt::format("{} (near byte {})", ZSTD_getErrorName(left_), packed_.taken()));
    }
    full_ = out.pos == out.size;
    piece.resize(out.pos);
  }

  Packed packed_;
  std::string name_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::size_t left_ = 1;  // of the frame, as far as it is known; 0 at a frame's end
  bool full_ = false;     // the last call filled its room: there may be more to write
};

}  // namespace

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> bytes, const std::string& name) {
  std::string magic(kMagic, '\0');
  magic.resize(bytes->read(magic));
  const bool gzip = magic.starts_with("\x1F\x8B"), zstd = magic.starts_with("\x28\xB5\x2F\xFD");
  auto whole = std::make_unique<LookedAtSource>(std::move(magic), std::move(bytes));
  if (gzip) return std::make_unique<GzipSource>(std::move(whole), name);
  if (zstd) return std::make_unique<ZstdSource>(std::move(whole), name);
  return whole;
}

}  // namespace chargpt
