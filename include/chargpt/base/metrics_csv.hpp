#pragma once

#include <cstdint>
#include <string>

namespace chargpt {

/// The records of a metrics file as CSV (RFC 4180, but lines end in \n): a heading with the name of every member in the
/// order of its first appearance, then one row a record; members that a record lacks, and null, are empty.
struct MetricsCsv {
  std::string text;
  std::int64_t records = 0;
};

/// Errors: as read_records.
MetricsCsv metrics_csv(const std::string& path);

}  // namespace chargpt
