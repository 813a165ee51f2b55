#pragma once

#include <span>
#include <string>
#include <vector>

namespace chargpt {

/// A picture of attention weights as SVG 1.1: one row a position that looks (query), one column a position that is
/// looked at (key), the darker the larger the weight (by its root, so that small ones show); pointing at a cell shows
/// its number. labels: T texts in UTF-8; weights: (T, T) by rows, each in [0, 1]; what lies above the diagonal is drawn
/// as masked.
std::string attention_svg(const std::string& title, const std::vector<std::string>& labels,
                          std::span<const double> weights);

}  // namespace chargpt
