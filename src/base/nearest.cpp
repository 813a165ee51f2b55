#include "chargpt/base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace chargpt {
namespace {

std::string folded(std::string name) {
  for (char& c : name) c = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

/// Optimal string alignment: inserted, lost, changed and swapped neighbouring letters count 1 each.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

/// Letters were only left out: the most common slip, and so the likeliest of several at one distance.
bool left_out_letters(const std::string& name, const std::string& candidate) {
  std::size_t matched = 0;
  for (const char c : candidate) matched += matched < name.size() && name[matched] == c ? 1 : 0;
  return matched == name.size();
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWorthComparing = 64;
  if (name.size() > kLongestWorthComparing) return "";
  const std::string wanted = folded(name);
  std::size_t limit = std::clamp<std::size_t>(wanted.size() / 3, 1, 3);
  std::string best;
  for (const std::string& candidate : known) {
    const std::size_t found = distance(wanted, folded(candidate));
    // A name that shares no letter with the candidate is not a misspelling of it.
    if (found > limit || found >= wanted.size()) continue;
    const bool likelier = best.empty() || found < limit ||
                          (left_out_letters(wanted, folded(candidate)) && !left_out_letters(wanted, folded(best)));
    if (likelier) best = candidate;
    limit = found;
  }
  return best;
}

}  // namespace chargpt
