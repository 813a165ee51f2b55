#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/report_page.hpp"
#include "chargpt/base/event_file.hpp"
#include "chargpt/base/line_plot.hpp"
#include "chargpt/base/metrics_csv.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/output_file.hpp"
#include "chargpt/base/report_data.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/svg_plot.hpp"
#include "chargpt/base/terminal.hpp"

namespace chargpt {
namespace {

constexpr int kNarrowest = 30, kWidest = 200;  // columns of a plot

void warn(const RunHistory& run) {
  for (const std::string& note : run.notes) write_message(fmt::format("warning: {}\n", note));
}

/// What all names begin with, up to a "/", tells no run from another.
void shorten_names(std::vector<RunHistory>& runs) {
  if (runs.size() < 2) return;
  std::string common = runs[0].name;
  for (const RunHistory& run : runs) {
    const auto end = std::mismatch(common.begin(), common.end(), run.name.begin(), run.name.end()).first;
    common.erase(end, common.end());
  }
  const auto length = common.rfind('/') + 1;  // 0 where there is none
  for (RunHistory& run : runs) run.name.erase(0, length);
}

/// Of a run among others, such as one of a sweep that is just beginning: it is left out with a word.
bool has_no_metrics(const std::string& folder) {
  const std::string path = RunPaths(folder).metrics();
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return false;
  write_message(fmt::format("warning: there is no {} yet\n", path));
  return true;
}

std::vector<RunHistory> read_runs(const std::vector<std::string>& paths) {
  std::vector<RunHistory> runs;
  for (const std::string& path : paths) {
    const std::vector<std::string> folders = find_runs(path);
    for (const std::string& folder : folders) {
      if (folders.size() > 1 && has_no_metrics(folder)) continue;
      runs.push_back(read_run(folder));
      warn(runs.back());
    }
  }
  shorten_names(runs);
  return runs;
}

/// A run that has not done a step is left out with a word; nothing to show at all is an error.
void require_records(std::vector<RunHistory>& runs) {
  for (const RunHistory& run : runs) {
    if (run.metrics.steps.empty()) write_message(fmt::format("warning: {} has no step yet\n", run.name));
  }
  std::erase_if(runs,
                [](const RunHistory& run) { return run.metrics.steps.empty() && run.metrics.evaluations.empty(); });
  if (runs.empty()) throw Error(ExitCode::bad_data, "there is nothing to show: no run has a record of a step yet");
}

Json summaries(const std::vector<RunHistory>& runs) {
  Json list = Json::array();
  for (const RunHistory& run : runs) {
    Json json = {{"run", run.name}};
    json.update(to_json(summarize(run)));
    list.push_back(json);
  }
  return {{"runs", list}};
}

std::string in_terminal(const std::vector<RunHistory>& runs, const Arguments& arguments) {
  PlotStyle style;
  style.width = std::clamp(terminal_width(STDOUT_FILENO), kNarrowest, kWidest);
  style.color = wants_color(STDOUT_FILENO, arguments.no_color);
  std::string text;
  for (const Chart& chart : charts_of(runs)) text += line_plot(chart, style) + "\n";
  if (runs.size() > 1) return text;
  for (const std::string& sentence : in_words(summarize(runs[0]))) text += sentence + "\n";
  return text;
}

/// What is written never takes the place of what is read: `file` is none of a run's own, nor among its checkpoints.
void require_apart(const std::string& file, const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // what is not there yet is no file of a run
  for (const std::string& path : paths) {
    for (const std::string& run : find_runs(path)) {
      const RunPaths own(run);
      const std::string checkpoints = fs::weakly_canonical(own.checkpoints(), ignored).string() + "/";
      bool taken = fs::weakly_canonical(file, ignored).string().starts_with(checkpoints);
      for (const std::string& name : {own.metrics(), own.config(), own.log(), own.lock()}) {
        taken = taken || fs::equivalent(file, name, ignored);
      }
      if (!taken) continue;
      throw Error(ExitCode::usage, fmt::format("{} is a file of the run {}: give another one to write to", file, run));
    }
  }
}

std::string metrics_of_one_run(const std::string& path) {
  const auto folders = find_runs(path);
  if (folders.size() == 1) return RunPaths(folders[0]).metrics();
  throw Error(ExitCode::usage,
              fmt::format("{} holds {} runs: one is exported at a time, such as {}", path, folders.size(), folders[0]));
}

/// The file that was written.
std::string export_events(const std::string& metrics, const std::string& folder) {
  const auto file = convert_to_events(metrics, folder);
  file->close();
  return file->path();
}

std::string export_table(const std::string& metrics, const Arguments& arguments) {
  const MetricsCsv csv = metrics_csv(metrics);
  if (arguments.csv == "-") {
    write_output(csv.text);
  } else {
    require_apart(arguments.csv, {arguments.run});
    write_output_file(arguments.csv, csv.text);
  }
  return arguments.csv;
}

}  // namespace

int run_metrics_plot(const Arguments& arguments) {
  if (!arguments.svg.empty()) require_apart(arguments.svg, arguments.files);
  std::vector<RunHistory> runs = read_runs(arguments.files);
  require_records(runs);
  if (!arguments.svg.empty()) write_output_file(arguments.svg, svg_plot(charts_of(runs)));
  if (arguments.json) {
    write_output(to_json_line(summaries(runs)) + "\n");
  } else if (arguments.svg.empty()) {
    write_output(in_terminal(runs, arguments));
  }
  return 0;
}

int run_metrics_export(const Arguments& arguments) {
  if (arguments.csv.empty() == arguments.tensorboard.empty()) {
    throw Error(ExitCode::usage, "what to export to? Give one of --csv FILE (- for stdout) and --tensorboard DIR");
  }
  if (arguments.csv == "-" && arguments.json) {
    throw Error(ExitCode::usage,
                "--csv - and --json would both write to stdout: give --csv a file, or leave --json out");
  }
  const std::string metrics = metrics_of_one_run(arguments.run);
  const std::string file =
      arguments.csv.empty() ? export_events(metrics, arguments.tensorboard) : export_table(metrics, arguments);
  if (arguments.json) write_output(to_json_line({{"file", file}}) + "\n");
  return 0;
}

int run_metrics_report(const Arguments& arguments) {
  const std::string out = arguments.out.empty() ? "report.html" : arguments.out;
  require_apart(out, arguments.files);
  std::vector<RunHistory> runs = read_runs(arguments.files);
  require_records(runs);
  write_output_file(out, report_page(report_data(runs)));
  if (arguments.json) {
    write_output(to_json_line({{"report", out}, {"runs", runs.size()}}) + "\n");
  } else if (!arguments.quiet) {
    write_message(fmt::format("{} {} in {}\n", runs.size(), runs.size() == 1 ? "run" : "runs", out));
  }
  return 0;
}

}  // namespace chargpt
