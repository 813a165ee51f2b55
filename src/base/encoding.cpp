#include "chargpt/base/encoding.hpp"

#include <fmt/format.h>
#include <iconv.h>
#include <uchardet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "chargpt/base/error.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
constexpr std::size_t kJudged = 1 << 20;  // bytes that a guess is made from

/// What files that say ISO-8859-1 hold as well, as the Encoding Standard of the web has it.
constexpr const char* kWestern = "WINDOWS-1252";

/// Owns a conversion to UTF-8.
class Converter {
 public:
  /// A slash would add iconv's own options, such as "//IGNORE", which drops text silently; no name means the locale's.
  explicit Converter(const std::string& from)
      : value_(from.empty() || from.find('/') != std::string::npos ? invalid() : iconv_open("UTF-8", from.c_str())) {}
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter() {
    if (known()) iconv_close(value_);
  }
  bool known() const { return value_ != invalid(); }

  /// Converts from the front of `bytes`, which loses what was converted. 0, or why it stopped: EILSEQ at bytes that are
  /// not valid, EINVAL at a sequence that is not complete.
  int convert(std::string_view& bytes, std::string& result) {
    std::array<char, kBuffer> buffer;
    while (!bytes.empty()) {
      char* in = const_cast<char*>(bytes.data());  // iconv changes the pointer, not the bytes
      std::size_t in_left = bytes.size();
      const int error = write(&in, &in_left, buffer, result);
      bytes.remove_prefix(bytes.size() - in_left);
      if (error != 0 && error != E2BIG) return error;
    }
    return 0;
  }

  /// Writes what the encoding has at a text's end. False when it cannot end here.
  bool finish(std::string& result) {
    std::array<char, kBuffer> buffer;
    return write(nullptr, nullptr, buffer, result) == 0;
  }

 private:
  static iconv_t invalid() { return reinterpret_cast<iconv_t>(std::intptr_t{-1}); }

  /// 0, or the errno that stopped it.
  int write(char** in, std::size_t* in_left, std::array<char, kBuffer>& buffer, std::string& result) {
    char* out = buffer.data();
    std::size_t room = buffer.size();
    const int error = iconv(value_, in, in_left, &out, &room) == static_cast<std::size_t>(-1) ? errno : 0;
    result.append(buffer.data(), buffer.size() - room);
    return error;
  }

  iconv_t value_;
};

bool is_utf8(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>('a' <= c && c <= 'z' ? c - 'a' + 'A' : c); });
  return name == "UTF-8" || name == "UTF8";
}

/// Without a byte order mark, every other byte of a Latin text in UTF-16 is 0.
std::string utf16_by_zeros(std::string_view bytes) {
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < bytes.size(); ++i) zeros[i % 2] += bytes[i] == '\0' ? 1U : 0U;
  const std::size_t many = bytes.size() / 4;
  if (zeros[1] > many && zeros[0] == 0) return "UTF-16LE";
  if (zeros[0] > many && zeros[1] == 0) return "UTF-16BE";
  return "";
}

/// Few bytes beyond ASCII say nothing: such texts are mostly Western ones, with a quotation mark here and there.
bool is_telling(std::string_view bytes) {
  constexpr std::size_t kEnough = 100;
  const auto beyond_ascii = [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; };
  const auto count = static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), beyond_ascii));
  return count >= kEnough || 4 * count >= bytes.size();
}

bool converts(std::string_view bytes, const std::string& encoding) {
  Converter converter(encoding);
  std::string ignored;
  return converter.known() && converter.convert(bytes, ignored) == 0 && converter.finish(ignored);
}

/// Whether a stretch of a file is UTF-8, but for a character that may be cut where it does not begin or end the file.
/// Other encodings have bytes of 0 in their texts.
bool looks_like_utf8(std::string_view bytes, bool first, bool last) {
  constexpr std::size_t kCut = 3;  // bytes of a character at most that are not its whole
  const auto begins_character = [](char byte) { return (byte & 0xC0) != 0x80; };
  if (!first) {
    const auto* const begin =
        std::find_if(bytes.begin(), bytes.begin() + std::min(kCut, bytes.size()), begins_character);
    bytes.remove_prefix(static_cast<std::size_t>(begin - bytes.begin()));
  }
  if (bytes.find('\0') != std::string_view::npos) return false;
  bytes.remove_prefix(find_invalid_utf8(bytes));
  return bytes.empty() || (!last && bytes.size() <= kCut && begins_character(bytes[0]));
}

/// Bytes of an encoding as UTF-8.
class ConvertedSource : public PieceSource {
 public:
  ConvertedSource(std::unique_ptr<ByteSource> bytes, std::string encoding, std::string name)
      : bytes_(std::move(bytes)), encoding_(std::move(encoding)), name_(std::move(name)), converter_(encoding_) {
    if (converter_.known()) return;
    throw Error(ExitCode::usage, fmt::format("\"{}\" is no encoding that this system's iconv knows; `iconv -l` "
                                             "lists them",
                                             encoding_));
  }

 protected:
  void make(std::string& piece) override {
    while (piece.empty() && !ended_) {
      read_more();
      std::string_view rest = pending_;
      const int error = converter_.convert(rest, piece);
      place_.advance(piece);
      offset_ += pending_.size() - rest.size();
      const bool cut_short = ended_ && (error != 0 || !converter_.finish(piece));
      if (cut_short || (error != 0 && error != EINVAL)) fail(rest);
      pending_.erase(0, pending_.size() - rest.size());
    }
  }

 private:
  void read_more() {
    const std::size_t kept = pending_.size();
    pending_.resize(kept + kBuffer);
    const std::size_t got = bytes_->read({pending_.data() + kept, kBuffer});
    pending_.resize(kept + got);
    ended_ = got == 0;
    seen_.erase(0, seen_.size() - std::min(seen_.size(), kBuffer));
    seen_.append(pending_, kept);
    seen_all_ = seen_all_ && seen_.size() == offset_ + pending_.size();
  }

  [[noreturn]] void fail(std::string_view rest) const {
    const std::string byte = rest.empty() ? "the end" : fmt::format("0x{:02X}", static_cast<unsigned char>(rest[0]));
    fail_bad_data(fmt::format("{}: not valid {} at byte offset {} (line {}, column {}): {}; {}", name_, encoding_,
                              offset_, place_.line, place_.column, byte, advice()));
  }

  /// From the bytes up to the fault and some behind it.
  std::string advice() const {
    const std::string likely = looks_like_utf8(seen_, seen_all_, ended_) ? "UTF-8" : likely_encoding(seen_);
    if (likely.empty() || likely == encoding_) return "name the file's own encoding with data.encoding";
    return fmt::format("if it is {0}, as it seems, say --set data.encoding={0}", likely);
  }

  std::unique_ptr<ByteSource> bytes_;
  std::string encoding_, name_;
  Converter converter_;
  std::string pending_;  // read and not yet converted
  std::string seen_;     // what was read last
  bool seen_all_ = true;
  std::uint64_t offset_ = 0;  // in the file
  TextPlace place_;           // of what was converted
  bool ended_ = false;
};

struct Delete {
  void operator()(uchardet_t detector) const { uchardet_delete(detector); }
};

std::string detected(std::string_view bytes) {
  const std::unique_ptr<uchardet, Delete> detector(uchardet_new());
  uchardet_handle_data(detector.get(), bytes.data(), bytes.size());
  uchardet_data_end(detector.get());
  return uchardet_get_charset(detector.get());
}

}  // namespace

bool is_known_encoding(const std::string& name) { return Converter(name).known(); }

std::unique_ptr<ByteSource> to_utf8(std::unique_ptr<ByteSource> bytes, const std::string& encoding,
                                    const std::string& name) {
  if (is_utf8(encoding)) return bytes;
  return std::make_unique<ConvertedSource>(std::move(bytes), encoding, name);
}

std::string likely_encoding(std::string_view bytes) {
  if (bytes.starts_with(std::string_view("\xFF\xFE\0\0", 4)) || bytes.starts_with(std::string_view("\0\0\xFE\xFF", 4)))
    return "UTF-32";
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return "UTF-16";
  const std::string_view judged = bytes.substr(0, kJudged);
  if (std::string utf16 = utf16_by_zeros(judged); !utf16.empty() && converts(bytes, utf16)) return utf16;
  if (judged.find('\0') != std::string_view::npos) return "";  // the others have none in a text
  if (!is_telling(judged) && converts(bytes, kWestern)) return kWestern;
  const std::string guess = detected(judged);
  if (guess == "ISO-8859-1") return converts(bytes, kWestern) ? kWestern : guess;
  return !guess.empty() && !is_utf8(guess) && guess != "ASCII" && converts(bytes, guess) ? guess : "";
}

}  // namespace chargpt
