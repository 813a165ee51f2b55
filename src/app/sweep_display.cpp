#include "chargpt/app/sweep_display.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "chargpt/base/output.hpp"
#include "chargpt/base/progress_line.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/table.hpp"
#include "chargpt/base/terminal.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(200);

double seconds_since(SweepDisplay::Clock::time_point moment) {
  return std::chrono::duration<double>(SweepDisplay::Clock::now() - moment).count();
}

std::string loss_text(const std::optional<double>& loss) { return loss ? fmt::format("{:.4f}", *loss) : "-"; }

double operations_of(const SweepRun& run, std::int64_t steps) {
  return run.operations() * static_cast<double>(steps) / static_cast<double>(run.steps());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    lines.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  return lines;
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
  Active active{MetricsFollower(RunPaths(paths_.run(runs_[run])).metrics()), {}, 0, Clock::now()};
  follow(active);
  active.first_step = active.standing.step;
  active_.emplace(run, std::move(active));
}

void SweepDisplay::follow(Active& active) {
  const MetricsFollower::News news = active.metrics.read();
  Standing& standing = active.standing;
  if (news.anew) standing = {};
  for (const StepMetrics& step : news.metrics.steps) {
    standing.step = step.step;
    standing.loss = standing.smoothed.add(step);
  }
  for (const EvaluationMetrics& evaluation : news.metrics.evaluations) {
    standing.last = evaluation.nats_per_char;
    if (standing.best && *standing.best <= evaluation.nats_per_char) continue;
    standing.best = evaluation.nats_per_char;
    standing.best_step = evaluation.step;
  }
}

void SweepDisplay::leave(std::size_t run) { active_.erase(run); }

void SweepDisplay::end(std::size_t run, const std::string& state) {
  count(run);
  const auto active = active_.find(run);
  follow(active->second);
  const Standing& standing = active->second.standing;
  std::string line = fmt::format("[{}/{}] {}: {}", ended_, runs_.size(), runs_[run].name, state);
  if (standing.best) {
    line += fmt::format(", validation loss {:.6f}, best {:.6f} at step {}", *standing.last, *standing.best,
                        standing.best_step);
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

std::vector<std::string> SweepDisplay::row(std::size_t run, const Active& active) const {
  const Standing& standing = active.standing;
  const std::int64_t steps = runs_[run].steps(), here = standing.step - active.first_step;
  const double each = seconds_since(active.since) / static_cast<double>(here);
  return {runs_[run].name, fmt::format("{}/{}", standing.step, steps), loss_text(standing.loss),
          loss_text(standing.best),
          here > 0 ? format_duration(each * static_cast<double>(steps - standing.step)) : "-"};
}

std::vector<std::string> SweepDisplay::table() {
  std::vector<std::vector<std::string>> rows = {{"run", "step", "loss", "best", "left"}};
  double done = ended_operations_, done_here = ended_operations_ - skipped_operations_;
  for (auto& [run, active] : active_) {
    follow(active);
    rows.push_back(row(run, active));
    done += operations_of(runs_[run], active.standing.step);
    done_here += operations_of(runs_[run], std::max<std::int64_t>(0, active.standing.step - active.first_step));
  }
  std::vector<std::string> lines = lines_of(to_grid(rows, {true, false, false, false, false}));
  lines.push_back(summary(done, done_here));
  return lines;
}

std::string SweepDisplay::summary(double done, double done_here) const {
  const double each = seconds_since(since_) / done_here;
  return fmt::format("  {} of {} runs ended, {:.0f}%, {} left", ended_, runs_.size(), 100 * done / all_operations_,
                     done_here > 0 ? format_duration(each * (all_operations_ - done)) : "-");
}

void SweepDisplay::refresh() {
  if (!style_.live || style_.quiet || Clock::now() - drawn_ < kRedrawInterval) return;
  drawn_ = Clock::now();
  std::vector<std::string> lines = table();
  const int fit = std::max(terminal_height(STDERR_FILENO) - 1, 2);  // the last of them is the summary
  if (static_cast<int>(lines.size()) > fit) lines.erase(lines.begin() + fit - 1, lines.end() - 1);
  // One column less than there are: some terminals wrap behind the last one.
  const auto width = static_cast<std::size_t>(terminal_width(STDERR_FILENO) - 1);
  std::string text = take_away();
  for (const std::string& line : lines) text += printable(line.substr(0, width)) + "\n";
  draw(text);
  drawn_lines_ = lines.size();
}

std::string SweepDisplay::take_away() {
  const std::size_t lines = std::exchange(drawn_lines_, 0);
  return lines == 0 ? "" : fmt::format("\x1b[{}A\x1b[J", lines);
}

void SweepDisplay::clear() { draw(take_away()); }

}  // namespace chargpt
