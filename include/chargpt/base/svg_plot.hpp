#pragma once

#include <string>
#include <vector>

#include "chargpt/base/chart.hpp"

namespace chargpt {

/// Charts below one another as one SVG 1.1 picture, 760 pixels wide: curves with scales, titles and legends. Colours of
/// the series are those of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people can tell apart; a
/// ninth series begins them again, dashed.
std::string svg_plot(const std::vector<Chart>& charts);

}  // namespace chargpt
