#include "chargpt/base/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace chargpt {
namespace {

struct Piece {
  int rank;  ///< the higher, the sooner left out
  std::string text;
};

std::vector<Piece> parts_of(const ProgressState& state) {
  const std::int64_t percent = state.total_steps == 0 ? 100 : 100 * state.step / state.total_steps;
  std::vector<Piece> parts;
  parts.push_back({0, fmt::format("step {}/{} ({}%)", state.step, state.total_steps, percent)});
  parts.push_back({1, fmt::format("loss {:.4f}", state.loss)});
  if (state.validation) parts.push_back({3, fmt::format("val {:.4f}", *state.validation)});
  parts.push_back({5, fmt::format("lr {:.2e}", state.learning_rate)});
  parts.push_back({7, fmt::format("norm {:.2f}", state.gradient_norm)});
  parts.push_back({4, fmt::format("{} chars/s", format_count(state.chars_per_second))});
  if (state.memory != 0) parts.push_back({8, fmt::format("{} MB", state.memory >> 20)});
  parts.push_back({6, fmt::format("{} elapsed", format_duration(state.elapsed))});
  parts.push_back({2, fmt::format("{} left", format_duration(state.left))});
  return parts;
}

std::string joined(const std::vector<Piece>& parts) {
  std::string line;
  for (const Piece& part : parts) line += (line.empty() ? "" : "  ") + part.text;
  return line;
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t width) {
  std::vector<Piece> parts = parts_of(state);
  while (parts.size() > 1 && joined(parts).size() > width) {
    parts.erase(
        std::max_element(parts.begin(), parts.end(), [](const Piece& a, const Piece& b) { return a.rank < b.rank; }));
  }
  return joined(parts).substr(0, width);
}

std::string format_duration(double seconds) {
  const auto total = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e15) + 0.5);
  const std::int64_t days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  if (days > 0) return fmt::format("{}d {:02}:{:02}:{:02}", days, hours, minutes, total % 60);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

std::string format_count(double count) {
  if (count < 1000) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.1f}k", count / 1e3);
  return fmt::format("{:.2f}M", count / 1e6);
}

}  // namespace chargpt
