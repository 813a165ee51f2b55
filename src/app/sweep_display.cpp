#include "chargpt/app/sweep_display.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "chargpt/base/output.hpp"
#include "chargpt/base/progress_line.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/table.hpp"

namespace chargpt {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(200);

double seconds_since(SweepDisplay::Clock::time_point moment) {
  return std::chrono::duration<double>(SweepDisplay::Clock::now() - moment).count();
}

winsize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {24, 80, 0, 0};
  return size;
}

std::string loss_text(const std::optional<double>& loss) { return loss ? fmt::format("{:.4f}", *loss) : "-"; }

double share_done(const SweepRun& run, const RunStanding& metrics) {
  return static_cast<double>(metrics.step) / static_cast<double>(std::max<std::int64_t>(1, run.steps()));
}

}  // namespace

SweepDisplay::SweepDisplay(SweepPaths paths, const std::vector<SweepRun>& runs, Style style)
    : paths_(std::move(paths)), runs_(runs), style_(style) {
  for (const SweepRun& run : runs) all_operations_ += run.operations();
}

void SweepDisplay::count(std::size_t run) {
  ++ended_;
  ended_operations_ += runs_[run].operations();
}

void SweepDisplay::skip(std::size_t run) {
  count(run);
  skipped_operations_ += runs_[run].operations();
}

void SweepDisplay::begin(std::size_t run) {
  MetricsFollower metrics(RunPaths(paths_.run(runs_[run])).metrics());
  const std::int64_t first_step = metrics.read().step;
  active_.emplace(run, Active{std::move(metrics), first_step, Clock::now()});
}

void SweepDisplay::leave(std::size_t run) { active_.erase(run); }

void SweepDisplay::end(std::size_t run, const std::string& state) {
  count(run);
  const auto active = active_.find(run);
  const RunStanding metrics = active->second.metrics.read();
  std::string line = fmt::format("[{}/{}] {}: {}", ended_, runs_.size(), runs_[run].name, state);
  if (metrics.best_loss) {
    line += fmt::format(", validation loss {:.6f}, best {:.6f} at step {}", *metrics.final_loss, *metrics.best_loss,
                        *metrics.best_step);
  }
  line += fmt::format(", {}", format_duration(seconds_since(active->second.since)));
  active_.erase(active);
  say(line);
}

void SweepDisplay::say(const std::string& line) {
  if (style_.quiet) return;
  clear();
  write_message(line + "\n");
}

std::vector<std::string> SweepDisplay::table() {
  std::vector<std::vector<std::string>> rows = {{"run", "step", "loss", "best", "left"}};
  double operations = 0;
  for (auto& [run, active] : active_) {
    const RunStanding& metrics = active.metrics.read();
    const std::int64_t steps = runs_[run].steps(), here = metrics.step - active.first_step;
    const double each = seconds_since(active.since) / static_cast<double>(here);
    rows.push_back({runs_[run].name, fmt::format("{}/{}", metrics.step, steps), loss_text(metrics.loss),
                    loss_text(metrics.best_loss),
                    here > 0 ? format_duration(each * static_cast<double>(steps - metrics.step)) : "-"});
    operations += share_done(runs_[run], metrics) * runs_[run].operations();
  }
  const std::string grid = to_grid(rows, {true, false, false, false, false});
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < grid.size(); begin = grid.find('\n', begin) + 1) {
    lines.push_back(grid.substr(begin, grid.find('\n', begin) - begin));
  }
  lines.push_back(summary(operations));
  return lines;
}

std::string SweepDisplay::summary(double operations_in_progress) const {
  const double here = ended_operations_ - skipped_operations_ + operations_in_progress;
  const double to_do = all_operations_ - ended_operations_ - operations_in_progress;
  return fmt::format("  {} of {} runs ended, {:.0f}%, {} left", ended_, runs_.size(),
                     100 * (ended_operations_ + operations_in_progress) / all_operations_,
                     here > 0 ? format_duration(seconds_since(since_) * to_do / here) : "-");
}

void SweepDisplay::refresh() {
  if (!style_.live || style_.quiet || Clock::now() - drawn_ < kRedrawInterval) return;
  drawn_ = Clock::now();
  const winsize size = terminal_size();
  std::vector<std::string> lines = table();
  const auto fit = static_cast<std::size_t>(std::max(size.ws_row - 1, 2));  // the last of them is the summary
  if (lines.size() > fit) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(fit) - 1, lines.end() - 1);
  std::string text;
  for (const std::string& line : lines) text += line.substr(0, size.ws_col - 1U) + "\n";
  clear();
  write_message(text);
  drawn_lines_ = lines.size();
}

void SweepDisplay::clear() {
  if (drawn_lines_ > 0) write_message(fmt::format("\x1b[{}A\x1b[J", drawn_lines_));
  drawn_lines_ = 0;
}

}  // namespace chargpt
