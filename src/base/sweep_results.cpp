#include "chargpt/base/sweep_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "chargpt/base/nearest.hpp"
#include "chargpt/base/run_folder.hpp"
#include "chargpt/base/run_history.hpp"
#include "chargpt/base/student_t.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

const char* state_of(const std::optional<SweepOutcome>& outcome, const std::string& folder) {
  const bool begun = is_run_folder(folder);
  if (outcome && outcome->exit_code != 0) return "failed";
  if (outcome && begun) return "finished";
  return begun ? "unfinished" : "waiting";
}

/// Empty where the run has recorded nothing.
RunSummary summary_of(const std::string& folder) {
  std::error_code ignored;
  const bool recorded = fs::exists(RunPaths(folder).metrics(), ignored);
  return recorded ? summarize(read_run(folder)) : RunSummary{};
}

Json row_of(const SweepPaths& paths, const SweepRun& run, const std::vector<std::string>& varied) {
  const std::string folder = paths.run(run);
  const auto outcome = read_outcome(paths, run);
  const RunSummary summary = summary_of(folder);
  Json row = {{"run", folder}, {"state", state_of(outcome, folder)}};
  row["exit_code"] = outcome ? Json(outcome->exit_code) : Json(nullptr);
  for (const std::string& key : varied) row[key] = value_of(run.config, key);
  row["step"] = summary.steps;
  row["final_loss"] = or_null(summary.validation);
  row["best_loss"] = or_null(summary.best);
  row["best_step"] = or_null(summary.best_step);
  row["bits_per_char"] = summary.best ? Json(*summary.best / std::numbers::ln2) : Json(nullptr);
  row["parameters"] = run.parameters();
  row["seconds"] = summary.seconds;
  row["chars_per_second"] = or_null(summary.chars_per_second);
  return row;
}

std::vector<std::string> columns_of(const Json& rows) {
  std::vector<std::string> columns;
  if (rows.empty()) return columns;
  for (const auto& [name, value] : rows.front().items()) columns.push_back(name);
  return columns;
}

void require_column(const Json& rows, const std::string& column) {
  const std::vector<std::string> columns = columns_of(rows);
  if (rows.empty() || std::find(columns.begin(), columns.end(), column) != columns.end()) return;
  const std::string near = nearest(column, columns);
  throw Error(ExitCode::usage, fmt::format("no column \"{}\"; {}", column,
                                           near.empty() ? fmt::format("the columns are {}", fmt::join(columns, ", "))
                                                        : fmt::format("did you mean \"{}\"?", near)));
}

bool is_value(const Json& cell, const std::string& text) {
  if (cell.is_string()) return cell.get<std::string>() == text;
  const Json value = Json::parse(text, nullptr, false);  // what is no JSON is no number
  return cell == value;
}

struct Group {
  Json keys = Json::object();
  std::vector<double> final_losses, best_losses, seconds;
  std::int64_t failed = 0;
  Json parameters;
};

void add_summary(Json& object, const std::string& name, const std::vector<double>& values) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const SampleSummary summary = values.empty() ? SampleSummary{0, none, none, none, none} : summarize(values);
  object[name + "_mean"] = or_null(summary.mean);
  object[name + "_sd"] = or_null(summary.deviation);
  object[name + "_low"] = or_null(summary.low);
  object[name + "_high"] = or_null(summary.high);
}

Json to_row(const Group& group) {
  Json row = group.keys;
  row["n"] = group.final_losses.size();
  row["failed"] = group.failed;
  add_summary(row, "final_loss", group.final_losses);
  add_summary(row, "best_loss", group.best_losses);
  row["parameters"] = group.parameters;
  row["seconds"] = group.seconds.empty() ? Json(nullptr) : Json(summarize(group.seconds).mean);
  return row;
}

void add(Group& group, const Json& row) {
  if (row.at("state") == "failed") ++group.failed;
  if (row.at("state") != "finished" || row.at("final_loss").is_null()) return;
  group.final_losses.push_back(row.at("final_loss"));
  group.best_losses.push_back(row.at("best_loss"));
  group.seconds.push_back(row.at("seconds"));
}

}  // namespace

Json sweep_rows(const SweepPaths& paths, const std::vector<SweepRun>& runs) {
  const std::vector<std::string> varied = varied_keys(runs);
  Json rows = Json::array();
  for (const SweepRun& run : runs) rows.push_back(row_of(paths, run, varied));
  return rows;
}

Json group_over_seeds(const Json& rows, const std::vector<std::string>& varied) {
  std::vector<Group> groups;
  for (const Json& row : rows) {
    Json keys = Json::object();
    for (const std::string& key : varied) {
      if (key != "run.seed") keys[key] = row.at(key);
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& other) { return other.keys == keys; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{keys, {}, {}, {}, 0, row.at("parameters")});
    add(*group, row);
  }
  Json grouped = Json::array();
  for (const Group& group : groups) grouped.push_back(to_row(group));
  return grouped;
}

Json rows_where(const Json& rows, const std::string& column, const std::string& value) {
  require_column(rows, column);
  Json kept = Json::array();
  for (const Json& row : rows) {
    if (is_value(row.at(column), value)) kept.push_back(row);
  }
  return kept;
}

void sort_rows(Json& rows, const std::string& column, bool descending) {
  require_column(rows, column);
  std::stable_sort(rows.begin(), rows.end(), [&](const Json& a, const Json& b) {
    const Json &left = a.at(column), &right = b.at(column);
    if (left.is_null() || right.is_null()) return !left.is_null() && right.is_null();
    return descending ? right < left : left < right;
  });
}

}  // namespace chargpt
