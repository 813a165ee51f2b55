#include "chargpt/base/event_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <vector>

#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// The number whose bytes begin at `at`, lowest first.
template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[at + i]));
  return value;
}

std::uint32_t unmasked(std::uint32_t crc) { return std::rotl(crc - 0xa282ead8U, 15); }

/// The data of each record of a TFRecord file, whose checksums must be right.
std::vector<std::string> records_of(const std::string& path) {
  const std::string file = read_file(path);
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    const auto length = static_cast<std::size_t>(number_at<std::uint64_t>(file, at));
    EXPECT_EQ(unmasked(number_at<std::uint32_t>(file, at + 8)), crc32c(file.substr(at, 8)));
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(unmasked(number_at<std::uint32_t>(file, at + 12 + length)), crc32c(records.back()));
    at += 16 + length;
  }
  return records;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

Json step(int number) { return {{"v", 1}, {"event", "step"}, {"step", number}, {"loss", 1.5}, {"seconds", 0.5}}; }

TEST(EventFile, ChecksumIsCastagnolis) {
  // RFC 3720, section B.4, and the usual check value.
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(EventFile, WritesEventsInTheWireFormat) {
  const TempDir dir;
  EventFile file(dir.path(), 1.0);
  file.add({{"event", "step"}, {"step", 300}, {"loss", 1.5}}, 2.0);
  file.close();
  const auto records = records_of(file.path());
  ASSERT_EQ(records.size(), 3U);
  const std::string one("\x09\0\0\0\0\0\0\xf0\x3f", 9), two("\x09\0\0\0\0\0\0\0\x40", 9);  // field 1, double
  EXPECT_EQ(records[0], one + "\x1a\x0d" + "brain.Event:2");
  EXPECT_EQ(records[1], one + std::string("\x10\0\x3a\x02\x08\x01", 6));
  EXPECT_EQ(records[2], two + std::string("\x10\xac\x02\x2a\x13\x0a\x11\x0a\x0aloss/train\x15\0\0\xc0\x3f", 24));
}

TEST(EventFile, LeavesOutWhatIsNoFiniteNumberAndOtherRecords) {
  const TempDir dir;
  EventFile file(dir.path(), 1.0);
  file.add({{"event", "step"}, {"step", 1}, {"loss", nullptr}}, 2.0);
  file.add({{"event", "step"}, {"step", 1}, {"loss", std::numeric_limits<double>::infinity()}}, 2.0);
  file.add({{"event", "other"}, {"step", 1}, {"loss", 1}}, 2.0);
  file.add({{"event", "sample"}, {"step", 1}, {"text", 1}}, 2.0);
  EXPECT_EQ(records_of(file.path()).size(), 2U);
}

TEST(EventFile, ConversionTakesThePlaceOfOlderFilesAndOfNoOthers) {
  const TempDir dir;
  const std::string metrics = dir.write("m", to_json_line(step(1)) + "\n" + to_json_line(step(2)) + "\n{\"torn");
  fs::create_directory(dir / "t");
  dir.write("t/events.out.tfevents.123.host", "foreign");
  for (int i = 0; i < 3; ++i) convert_to_events(metrics, dir / "t");
  EXPECT_EQ(names_in(dir / "t"),
            (std::vector<std::string>{"events.out.tfevents.0000000002.chargpt",
                                      "events.out.tfevents.0000000003.chargpt", "events.out.tfevents.123.host"}));
  EXPECT_EQ(fs::file_size(dir / "t/events.out.tfevents.0000000002.chargpt"), 0U);
  EXPECT_EQ(records_of(dir / "t/events.out.tfevents.0000000003.chargpt").size(), 4U);
  remove_event_files(dir / "t");
  EXPECT_EQ(names_in(dir / "t").size(), 1U);
}

TEST(EventFile, ALogBeginsWithAllThatTheMetricsHold) {
  const TempDir dir;
  const std::string first = to_json_line(step(1)) + "\n", second = to_json_line(step(2)) + "\n";
  const std::string metrics = dir.write("m", first + second);
  EventLog log(metrics, dir / "t");
  log.add(step(2));  // which is in the metrics by then
  const std::string path = dir / "t/events.out.tfevents.0000000001.chargpt";
  EXPECT_EQ(records_of(path).size(), 4U);
  log.add(step(3));
  EXPECT_EQ(records_of(path).size(), 5U);
}

TEST(EventFile, RemovingTheLastFileRemovesTheFolder) {
  const TempDir dir;
  convert_to_events(dir.write("m", ""), dir / "t");
  remove_event_files(dir / "t");
  EXPECT_FALSE(fs::exists(dir / "t"));
  remove_event_files(dir / "t");  // none is none
}

}  // namespace
}  // namespace chargpt
