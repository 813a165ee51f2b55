#include "chargpt/base/metrics_csv.hpp"

#include <algorithm>
#include <vector>

#include "chargpt/base/metrics_reader.hpp"

namespace chargpt {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + '"';
}

std::string field(const Json& record, const std::string& name) {
  const auto member = record.find(name);
  if (member == record.end() || member->is_null()) return "";
  return quoted(member->is_string() ? member->get<std::string>() : member->dump());
}

}  // namespace

MetricsCsv metrics_csv(const std::string& path) {
  std::vector<std::string> names;
  read_records(path, [&](const Json& record) {
    for (const auto& [name, value] : record.items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  });
  MetricsCsv csv;
  for (const std::string& name : names) csv.text += (&name == &names.front() ? "" : ",") + quoted(name);
  csv.text += "\n";
  read_records(path, [&](const Json& record) {
    for (const std::string& name : names) csv.text += (&name == &names.front() ? "" : ",") + field(record, name);
    csv.text += "\n";
    ++csv.records;
  });
  return csv;
}

}  // namespace chargpt
