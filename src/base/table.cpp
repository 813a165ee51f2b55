#include "chargpt/base/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kNameWidth = 28;

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(display_width(decode_utf8(text, "a table")));
}

std::string escaped(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return "\"" + escaped(text, "\"", "\"\"") + "\"";
}

}  // namespace

std::string to_cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{:.7g}", value.get<double>()) : value.dump();
}

std::string to_lines(const Json& object) {
  std::string lines;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_structured()) lines += fmt::format("{:<{}}{}\n", name, kNameWidth, to_cell(value));
  }
  return lines;
}

std::string to_grid(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left) {
  std::vector<std::string> lines(rows.size());
  for (std::size_t c = 0; c < left.size(); ++c) {
    std::size_t width = 0;
    for (const auto& row : rows) width = std::max(width, width_of(row[c]));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::string padding(width - width_of(rows[r][c]), ' ');
      lines[r] += "  " + (left[c] ? rows[r][c] + padding : padding + rows[r][c]);
    }
  }
  std::string grid;
  for (const std::string& line : lines) grid += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return grid;
}

std::string to_table(const Json& rows) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> cells(rows.size() + 1);
  std::vector<bool> left;
  for (const auto& [name, value] : rows.front().items()) {
    left.push_back(value.is_string());
    cells[0].push_back(name);
    for (std::size_t r = 0; r < rows.size(); ++r) cells[r + 1].push_back(to_cell(rows[r].at(name)));
  }
  return to_grid(cells, left);
}

std::string to_markdown(const Json& rows) {
  if (rows.empty()) return "";
  std::string heading = "|", rule = "|", body;
  for (const auto& [name, value] : rows.front().items()) {
    heading += fmt::format(" {} |", name);
    rule += value.is_string() ? " --- |" : " ---: |";
  }
  for (const Json& row : rows) {
    body += "|";
    for (const Json& cell : row) body += fmt::format(" {} |", escaped(to_cell(cell), "|", "\\|"));
    body += "\n";
  }
  return heading + "\n" + rule + "\n" + body;
}

std::string to_csv(const Json& rows) {
  if (rows.empty()) return "";
  std::vector<std::string> names;
  for (const auto& [name, value] : rows.front().items()) names.push_back(csv_field(name));
  std::string csv = fmt::format("{}\n", fmt::join(names, ","));
  for (const Json& row : rows) {
    std::vector<std::string> fields;
    for (const Json& cell : row) fields.push_back(csv_field(cell));
    csv += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return csv;
}

std::string to_json_lines(const Json& rows) {
  std::string lines;
  for (const Json& row : rows) lines += to_json_line(row) + "\n";
  return lines;
}

}  // namespace chargpt
