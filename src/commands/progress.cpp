#include "chargpt/commands/progress.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace chargpt {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(100);

/// Columns of the terminal, so that the line never wraps.
std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string format_duration(double seconds) {
  const auto total = static_cast<std::int64_t>(seconds + 0.5);
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string format_count(double count) {
  if (count < 1000) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.1f}k", count / 1e3);
  return fmt::format("{:.2f}M", count / 1e6);
}

double Progress::chars_per_second() const {
  return seconds_ == 0.0 ? 0.0 : static_cast<double>(steps_ * plan_.chars_per_step) / seconds_;
}

std::string Progress::line(const StepReport& report, double smoothed_loss) const {
  const double left = seconds_ / static_cast<double>(steps_) * static_cast<double>(plan_.total_steps - report.step);
  return fmt::format("step {}/{} ({}%)  loss {:.4f}  lr {:.2e}  {} chars/s  {} left", report.step, plan_.total_steps,
                     100 * report.step / plan_.total_steps, smoothed_loss, report.learning_rate,
                     format_count(chars_per_second()), format_duration(left));
}

void Progress::step(const StepReport& report, double smoothed_loss) {
  seconds_ += report.seconds;
  ++steps_;
  if (plan_.quiet) return;
  if (plan_.live) {
    const auto now = std::chrono::steady_clock::now();
    if (drawn_ && now - last_drawn_ < kRedrawInterval) return;
    last_drawn_ = now;
    draw(line(report, smoothed_loss).substr(0, terminal_width() - 1));
  } else if (report.step % plan_.log_every == 0 || report.step == plan_.total_steps) {
    spdlog::info("{}", line(report, smoothed_loss));
  }
}

void Progress::draw(const std::string& line) {
  // Not fmt::print, which throws when the terminal is gone.
  std::fputs(fmt::format("\r\x1b[K{}", line).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) draw("");
  drawn_ = false;
}

}  // namespace chargpt
