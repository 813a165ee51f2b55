#include "chargpt/commands/progress.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "chargpt/base/memory.hpp"
#include "chargpt/base/terminal.hpp"

namespace chargpt {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(100);

}  // namespace

double Progress::seconds_per_step() const {
  return steps_ > 1 ? later_seconds_ / static_cast<double>(steps_ - 1) : first_seconds_;
}

double Progress::chars_per_second() const {
  const double seconds = seconds_per_step();
  return seconds == 0.0 ? 0.0 : static_cast<double>(plan_.chars_per_step) / seconds;
}

ProgressState Progress::state(const StepReport& report, double smoothed_loss) const {
  ProgressState state;
  state.step = report.step;
  state.total_steps = plan_.total_steps;
  state.loss = smoothed_loss;
  state.validation = validation_;
  state.learning_rate = report.learning_rate;
  state.gradient_norm = report.gradient_norm;
  state.chars_per_second = chars_per_second();
  state.memory = static_cast<std::uint64_t>(resident_memory());
  state.elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
  state.left = seconds_per_step() * static_cast<double>(plan_.total_steps - report.step);
  return state;
}

void Progress::step(const StepReport& report, double smoothed_loss) {
  (steps_ == 0 ? first_seconds_ : later_seconds_) += report.seconds;
  ++steps_;
  if (plan_.quiet) return;
  if (plan_.live) {
    const auto now = Clock::now();
    if (drawn_ && now - last_drawn_ < kRedrawInterval) return;
    last_drawn_ = now;
    // One column less than there are: some terminals wrap behind the last one.
    draw(progress_line(state(report, smoothed_loss), static_cast<std::size_t>(terminal_width(STDERR_FILENO) - 1)));
  } else if (report.step % plan_.log_every == 0 || report.step == plan_.total_steps) {
    spdlog::info("{}", progress_line(state(report, smoothed_loss)));
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
