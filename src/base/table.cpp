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

}  // namespace chargpt
