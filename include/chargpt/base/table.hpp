#pragma once

#include <string>
#include <vector>

#include "chargpt/base/json.hpp"

namespace chargpt {

/// How results are shown to people; scripts read the same JSON through --json.

/// One value: text as it stands, numbers with seven digits, null as "-".
std::string to_cell(const Json& value);

/// The single values of an object, one a line: name and value. Lists and objects in it are left out.
std::string to_lines(const Json& object);

/// Rows of equally many cells in aligned columns, wide characters counted as such; a column is on the left where `left`
/// says so.
std::string to_grid(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left);

/// A list of objects with the same names as a grid with a heading; texts are on the left.
std::string to_table(const Json& rows);

// The same list for other programs. Empty for an empty list.
std::string to_markdown(const Json& rows);  ///< a table in GitHub's Markdown, numbers on the right
std::string to_csv(const Json& rows);  ///< RFC 4180 with lines that end in \n; numbers in full, null as an empty field
std::string to_json_lines(const Json& rows);  ///< an object a line

}  // namespace chargpt
