#include "chargpt/base/preparation_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "chargpt/base/output.hpp"
#include "chargpt/base/progress_line.hpp"
#include "chargpt/base/terminal.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(10);

}  // namespace

std::string preparation_line(const PreparationState& state, double seconds, std::string_view verb) {
  const double done = static_cast<double>(state.done) / 1e6, total = static_cast<double>(state.total) / 1e6;
  const double speed = done / std::max(seconds, 1e-3);
  const std::string beginning = fmt::format("{} {}: {:.0f}", verb, state.text, done);
  if (state.total == 0) return fmt::format("{} MB, {:.0f} MB/s", beginning, speed);
  const double left = std::max(0.0, total - done) / std::max(speed, 1e-3);
  return fmt::format("{} of {:.0f} MB ({:.0f}%), {:.0f} MB/s, {} left", beginning, total, 100 * done / total, speed,
                     format_duration(left));
}

PreparationEvents PreparationLine::events(std::function<bool()> stopped) {
  PreparationEvents events;
  if (!quiet_) events.progress = [this](const PreparationState& state) { show(state); };
  events.notice = [this](const std::string& line) {
    clear();
    write_message(line + "\n");
  };
  events.stopped = std::move(stopped);
  return events;
}

void PreparationLine::show(const PreparationState& state) {
  const auto now = Clock::now();
  if (now < next_) return;
  std::string line = preparation_line(state, std::chrono::duration<double>(now - started_).count(), verb_);
  if (live_) {
    const auto columns = static_cast<std::size_t>(terminal_width(STDERR_FILENO) - 1);
    draw("\r\x1b[K" + printable(line.substr(0, columns)));
  } else {
    write_message(line + "\n");
  }
  drawn_ = live_;
  next_ = now + (live_ ? Clock::duration(kRedrawInterval) : Clock::duration(kLineInterval));
}

void PreparationLine::clear() {
  if (drawn_) draw("\r\x1b[K");
  drawn_ = false;
}

}  // namespace chargpt
