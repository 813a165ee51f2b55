#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "chargpt/base/spool.hpp"

namespace chargpt {

/// The files that a data path means, in a fixed order: itself, if it is a file; those in a folder and its folders, by
/// name (hidden ones, which begin with a dot, are left out); "-": standard input; or those that match it as a pattern
/// with *, ?, [...] and {a,b}, by name. Error(no_input) when there is none.
std::vector<std::string> data_files(const std::string& path);

/// Whether an existing `file` is among those that a data path means.
bool is_data_file(const std::string& file, const std::string& path);

/// Appends all of standard input to `bytes`. `progress`, where given, is told after each piece how many bytes there are
/// so far. Errors: io; as Spool::append().
void read_standard_input(Spool& bytes, const std::function<void(std::uint64_t)>& progress = {});

}  // namespace chargpt
