#include "chargpt/base/part_of_run.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace chargpt {

std::int64_t PartOfRun::steps(std::int64_t total) const {
  return per_cent ? std::llround(static_cast<double>(total) * count / 100.0) : static_cast<std::int64_t>(count);
}

std::string PartOfRun::text() const { return per_cent ? fmt::format("{} %", count) : fmt::format("{}", count); }

std::optional<PartOfRun> PartOfRun::parse(std::string_view text) {
  double count = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(count) || count < 0.0) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size());
  if (unit.empty() && count == std::trunc(count)) return PartOfRun(count, false);
  if ((unit == "%" || unit == " %") && count <= 100.0) return PartOfRun(count, true);
  return std::nullopt;
}

}  // namespace chargpt
