#pragma once

#include <string>
#include <vector>

namespace chargpt {

/// The known name nearest to `name` by edit distance, or "" when none is near. For messages about typing mistakes: case
/// and hyphens for underscores do not count, two swapped letters count once, and of equally near names the first is
/// taken.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

}  // namespace chargpt
