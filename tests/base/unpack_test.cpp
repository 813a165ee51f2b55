#include "chargpt/base/unpack.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "chargpt/base/file.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

/// A text longer than the unpacker's buffers that does not repeat itself.
std::string long_text() {
  std::string text;
  for (unsigned i = 0; text.size() < 600'000; ++i) text += std::to_string(i * 2654435761U) + "\n";
  return text;
}

/// What gzip of Debian makes of a text.
std::string gzipped(const std::string& text) {
  const TempDir folder;
  folder.write("t", text);
  EXPECT_EQ(std::system(("gzip -c " + folder / "t" + " > " + (folder / "t.gz")).c_str()), 0);
  return read_file(folder / "t.gz");
}

/// A Zstandard frame of one raw block each up to 128 KiB (RFC 8878, section 3.1.1): no size, no checksum.
std::string zstd_frame(const std::string& text) {
  std::string frame = std::string("\x28\xB5\x2F\xFD", 4) + std::string("\x00\x58", 2);  // a window of 2 MiB
  constexpr std::size_t kBlock = 1 << 16;
  for (std::size_t at = 0; at < text.size() || at == 0; at += kBlock) {
    const std::string block = text.substr(at, kBlock);
    const auto header = static_cast<unsigned>(block.size() << 3) | (at + kBlock >= text.size() ? 1U : 0U);
    for (int shift = 0; shift < 24; shift += 8) frame.push_back(static_cast<char>(header >> shift));
    frame += block;
  }
  return frame;
}

std::string text_of(const std::string& bytes, const std::string& name) {
  return read_all(*unpacked(std::make_unique<TextSource>(bytes), name));
}

void expect_refused(const std::string& bytes, const std::string& part) {
  expect_error(ExitCode::bad_data, {"d.gz: it is packed by ", part}, [&] { text_of(bytes, "d.gz"); });
}

TEST(Unpacked, OtherBytesStayAsTheyAre) {
  for (const std::string text : {"", "a", "\x1F", "text\x1F\x8B"}) EXPECT_EQ(text_of(text, "d"), text);
}

TEST(Unpacked, GzipGivesTheTextBack) {
  for (const std::string& text : {std::string(), std::string("a\0b\n", 4), long_text()}) {
    EXPECT_TRUE(text_of(gzipped(text), "d") == text);
  }
}

TEST(Unpacked, SeveralMembersFollowEachOther) {
  EXPECT_EQ(text_of(gzipped("one\n") + gzipped("") + gzipped("two\n"), "d"), "one\ntwo\n");
  EXPECT_EQ(text_of(zstd_frame("one\n") + zstd_frame("two\n"), "d"), "one\ntwo\n");
}

TEST(Unpacked, ZstandardGivesTheTextBack) {
  for (const std::string& text : {std::string(), std::string("a\0b\n", 4), long_text()}) {
    EXPECT_TRUE(text_of(zstd_frame(text), "d") == text);
  }
}

TEST(Unpacked, ACutFileIsRefusedAtEveryLength) {
  const std::string gzip = gzipped("some text, some text\n"), zstd = zstd_frame("some text\n");
  for (std::size_t length = 2; length < gzip.size(); ++length) expect_refused(gzip.substr(0, length), "ends too soon");
  for (std::size_t length = 4; length < zstd.size(); ++length) expect_refused(zstd.substr(0, length), "ends too soon");
}

TEST(Unpacked, ADamagedFileIsRefused) {
  std::string gzip = gzipped(long_text());
  gzip[gzip.size() - 5] ^= 1;  // its checksum
  expect_refused(gzip, "damaged near byte");
  expect_refused(gzipped("a") + "rest", "damaged near byte");
  std::string zstd = zstd_frame("text");
  zstd[4] = '\x08';  // a reserved bit
  expect_refused(zstd, "near byte");
}

}  // namespace
}  // namespace chargpt
