#include "chargpt/base/event_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "chargpt/base/metrics_reader.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";  // TensorBoard looks for "tfevents"
constexpr std::string_view kSuffix = ".chargpt";

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, bits reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

/// A checksum of data that holds checksums is best kept apart from them, says record_writer's format.
std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

/// How a field's value is written in protobuf's wire format.
enum class Wire { variable = 0, fixed64 = 1, sized = 2, fixed32 = 5 };

std::string tag(int field, Wire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3 | static_cast<int>(wire));
}

std::string integer_field(int field, std::int64_t value) {
  return tag(field, Wire::variable) + varint(static_cast<std::uint64_t>(value));
}
std::string double_field(int field, double value) {
  return tag(field, Wire::fixed64) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string float_field(int field, float value) {
  return tag(field, Wire::fixed32) + little_endian(std::bit_cast<std::uint32_t>(value));
}
/// A text, bytes, or a message within a message.
std::string sized_field(int field, std::string_view bytes) {
  return tag(field, Wire::sized) + varint(bytes.size()) + std::string(bytes);
}

// Field numbers: Event wall_time 1, step 2, file_version 3, summary 5, session_log 7; SessionLog status 1 (START 1);
// Summary value 1; Value tag 1, simple_value 2, tensor 8, metadata 9; SummaryMetadata plugin_data 1; PluginData
// plugin_name 1; TensorProto dtype 1 (DT_STRING 7), tensor_shape 2, string_val 8; TensorShapeProto dim 2; Dim size 1.

std::string event_head(double wall_time, std::int64_t step) {
  return double_field(1, wall_time) + integer_field(2, step);
}

std::string scalar(const std::string& name, double value) {
  return sized_field(1, sized_field(1, name) + float_field(2, static_cast<float>(value)));
}

/// Indented by four spaces: TensorBoard reads a text as Markdown, in which that is text to be shown as it stands.
std::string indented(const std::string& text) {
  std::string lines = "    ";
  for (const char c : text) lines += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return lines;
}

std::string text_value(const std::string& name, const std::string& text) {
  const std::string shape = sized_field(2, integer_field(1, 1));
  const std::string tensor = integer_field(1, 7) + sized_field(2, shape) + sized_field(8, indented(text));
  const std::string metadata = sized_field(1, sized_field(1, "text"));
  return sized_field(1, sized_field(1, name) + sized_field(8, tensor) + sized_field(9, metadata));
}

/// What TensorBoard calls a member of a record.
struct Scalar {
  const char* event;
  const char* member;
  const char* name;
};
constexpr std::array kScalars = {
    Scalar{"step", "loss", "loss/train"},
    Scalar{"step", "learning_rate", "learning_rate"},
    Scalar{"step", "gradient_norm", "gradient_norm"},
    Scalar{"step", "seconds", "seconds_per_step"},
    Scalar{"evaluation", "nats_per_char", "loss/validation"},
};

std::string summary_of(const Json& record) {
  const std::string event = record.value("event", "");
  std::string summary;
  for (const Scalar& row : kScalars) {
    const auto member = record.find(row.member);
    if (event != row.event || member == record.end() || !member->is_number()) continue;
    if (std::isfinite(member->get<double>())) summary += scalar(row.name, member->get<double>());
  }
  const bool text = event == "sample" && record.contains("text") && record["text"].is_string();
  return text ? text_value("sample", record["text"].get<std::string>()) : summary;
}

/// Event files of ours in a folder, in the order of their names.
std::vector<std::string> own_files(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string next_path(const std::string& folder) {
  make_folders(folder);
  const auto names = own_files(folder);
  const long last = names.empty() ? 0 : std::atol(names.back().c_str() + kPrefix.size());
  return fmt::format("{}/{}{:010}{}", folder, kPrefix, last + 1, kSuffix);
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

double change_time(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<double>(status.st_mtime) : now();
}

double seconds_of(const Json& record) {
  const auto seconds = record.find("seconds");
  return record.value("event", "") == "step" && seconds != record.end() && seconds->is_number() ? seconds->get<double>()
                                                                                                : 0;
}

/// All event files of ours but the newest. A TensorBoard that has read the one before it looks for the next one from
/// there, and would stop for good if it were gone: that one is emptied.
void retire_older(const std::string& folder) {
  const auto names = own_files(folder);
  std::error_code ignored;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    const fs::path path = fs::path(folder) / names[i];
    if (i + 2 == names.size()) {
      fs::resize_file(path, 0, ignored);
    } else {
      fs::remove(path, ignored);
    }
  }
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = crc_table();
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

EventFile::EventFile(const std::string& folder, double wall_time) : path_(next_path(folder)), file_(path_) {
  write(double_field(1, wall_time) + sized_field(3, "brain.Event:2"));
  write(event_head(wall_time, 0) + sized_field(7, integer_field(1, 1)));
}

void EventFile::write(const std::string& event) {
  const std::string length = little_endian(static_cast<std::uint64_t>(event.size()));
  file_.write(length + little_endian(masked_crc(length)) + event + little_endian(masked_crc(event)));
}

void EventFile::add(const Json& record, double wall_time) {
  const std::string summary = summary_of(record);
  if (summary.empty()) return;
  const auto step = record.find("step");
  const bool known = step != record.end() && step->is_number_integer();
  write(event_head(wall_time, known ? step->get<std::int64_t>() : 0) + sized_field(5, summary));
}

std::unique_ptr<EventFile> convert_to_events(const std::string& metrics, const std::string& folder) {
  double seconds = 0.0;
  read_records(metrics, [&](const Json& record) { seconds += seconds_of(record); });
  double time = change_time(metrics) - seconds;
  auto file = std::make_unique<EventFile>(folder, time);
  read_records(metrics, [&](const Json& record) {
    time += seconds_of(record);
    file->add(record, time);
  });
  retire_older(folder);
  return file;
}

void EventLog::add(const Json& record) {
  if (file_)
    file_->add(record, now());
  else
    file_ = convert_to_events(metrics_, folder_);
}

void remove_event_files(const std::string& folder) {
  std::error_code ignored;
  for (const std::string& name : own_files(folder)) fs::remove(fs::path(folder) / name, ignored);
  fs::remove(folder, ignored);  // which fails where something foreign is in it
}

}  // namespace chargpt
