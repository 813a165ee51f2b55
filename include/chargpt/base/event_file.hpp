#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"

namespace chargpt {

// Event files of TensorBoard. Records are framed as TFRecord (tensorflow/core/lib/io/record_writer.h: length, masked
// CRC-32C of the length, data, masked CRC-32C of the data) and hold Event messages (tensorflow/core/util/event.proto,
// tensorflow/core/framework/summary.proto and tensor.proto) in protobuf's wire format
// (https://protobuf.dev/programming-guides/encoding/). Both are little-endian.

/// CRC-32C (Castagnoli; RFC 3720, section 12.1).
std::uint32_t crc32c(std::string_view bytes);

/// One event file, written record by record. It begins with a start of session at step 0, at which a TensorBoard that
/// has seen the run before forgets it: the file holds all of the run.
class EventFile {
 public:
  /// Makes the folder and in it a file whose name comes behind those of all event files of ours there. Errors:
  /// cannot_create, io.
  EventFile(const std::string& folder, double wall_time);

  /// What a record of metrics.jsonl says: scalars loss/train, loss/validation, learning_rate, gradient_norm and
  /// seconds_per_step, and texts of samples. Numbers that are not finite and other records are left out. wall_time:
  /// seconds since 1970. Error(io).
  void add(const Json& record, double wall_time);
  void close() { file_.close(); }
  const std::string& path() const { return path_; }

 private:
  void write(const std::string& event);

  std::string path_;
  FileWriter file_;
};

/// Writes an event file with all of a metrics file into `folder` and removes older ones of ours but for
/// the last, which is emptied: a TensorBoard that watches finds its way to the new one from there. Metrics
/// have no time of day: the last record gets the file's time of change, those before it the times that their steps'
/// seconds give. Returns the file, to which more may be added. Errors: as read_records, and cannot_create, io.
std::unique_ptr<EventFile> convert_to_events(const std::string& metrics, const std::string& folder);

/// Keeps an event file beside the metrics of a run in progress, whose only truth they are: at the first record, all
/// that they hold by then is converted, so that a resumed run is one curve; what follows is appended.
class EventLog {
 public:
  EventLog(std::string metrics, std::string folder) : metrics_(std::move(metrics)), folder_(std::move(folder)) {}
  /// To be called when the record is in the metrics. Errors: as convert_to_events.
  void add(const Json& record);

 private:
  std::string metrics_, folder_;
  std::unique_ptr<EventFile> file_;
};

/// Removes the event files of ours in a folder, and the folder if nothing else is in it.
void remove_event_files(const std::string& folder);

}  // namespace chargpt
