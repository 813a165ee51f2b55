#include "chargpt/base/unpack.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string_view>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kBuffer = 1 << 17;

[[noreturn]] void fail(const std::string& source, const char* kind, const std::string& what) {
  throw Error(ExitCode::bad_data, fmt::format("{}: {}, but {}; get the file again", source, kind, what));
}

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

/// A file may hold several members one after the other (RFC 1952, section 2.2).
std::string unpack_gzip(const std::string& bytes, const std::string& source) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, EndInflate> owner(&stream);
  std::string text;
  std::array<char, kBuffer> buffer;
  std::size_t taken = 0;
  int result = Z_OK;
  while (taken < bytes.size() || result != Z_STREAM_END) {
    if (result == Z_STREAM_END) inflateReset(&stream);
    const std::size_t piece = std::min(bytes.size() - taken, kBuffer);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()) + taken);  // zlib reads only
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = kBuffer;
    result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_BUF_ERROR) fail(source, "it is packed by gzip", "it ends too soon");
    if (result != Z_OK && result != Z_STREAM_END) {
      fail(source, "it is packed by gzip", fmt::format("damaged near byte {}", taken));
    }
    taken += piece - stream.avail_in;
    text.append(buffer.data(), kBuffer - stream.avail_out);
  }
  return text;
}

std::string unpack_zstd(const std::string& bytes, const std::string& source) {
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  if (stream == nullptr) throw std::bad_alloc();
  std::string text;
  std::array<char, kBuffer> buffer;
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  std::size_t left = 1;  // of the frame, as far as it is known; 0 at a frame's end
  bool full = true;      // the last call filled the buffer: there may be more to write
  while (in.pos < in.size || (full && left != 0)) {
    ZSTD_outBuffer out = {buffer.data(), buffer.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      fail(source, "it is packed by zstd", fmt::format("{} (near byte {})", ZSTD_getErrorName(left), in.pos));
    }
    text.append(buffer.data(), out.pos);
    full = out.pos == out.size;
  }
  if (left != 0) fail(source, "it is packed by zstd", "it ends too soon");
  return text;
}

}  // namespace

std::string unpacked(std::string bytes, const std::string& source) {
  if (bytes.starts_with("\x1F\x8B")) return unpack_gzip(bytes, source);
  if (bytes.starts_with("\x28\xB5\x2F\xFD")) return unpack_zstd(bytes, source);
  return bytes;
}

}  // namespace chargpt
