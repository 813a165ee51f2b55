#include <fmt/format.h>

#include <algorithm>

#include "chargpt/app/arguments.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/sweep_results.hpp"
#include "chargpt/base/table.hpp"

namespace chargpt {
namespace {

Json filtered(Json rows, const std::vector<std::string>& filters) {
  for (const std::string& filter : filters) {
    const auto equals = filter.find('=');
    if (equals == std::string::npos) {
      throw Error(ExitCode::usage, fmt::format("--where: got \"{}\", wanted COLUMN=VALUE", filter));
    }
    rows = rows_where(rows, filter.substr(0, equals), filter.substr(equals + 1));
  }
  return rows;
}

/// The row of the lowest validation loss; null without one.
Json best_of(Json rows) {
  sort_rows(rows, "best_loss", false);
  return rows.empty() || rows[0].at("best_loss").is_null() ? Json(nullptr) : rows[0];
}

std::string formatted(const Json& rows, const std::string& format) {
  if (format == "markdown") return to_markdown(rows);
  if (format == "csv") return to_csv(rows);
  return format == "jsonl" ? to_json_lines(rows) : to_table(rows);
}

}  // namespace

int run_sweep_table(const Arguments& arguments) {
  const SweepPaths paths(arguments.path);
  const std::vector<SweepRun> runs = read_plan(paths);
  Json rows = filtered(sweep_rows(paths, runs), arguments.where);
  const Json best = best_of(rows);
  if (arguments.group) rows = group_over_seeds(rows, varied_keys(runs));
  const std::string by_loss = arguments.group ? "best_loss_mean" : "best_loss";
  sort_rows(rows, arguments.sort.empty() ? by_loss : arguments.sort, arguments.descending);
  if (arguments.json) {
    write_output(Json{{"v", 1}, {"best", best}, {"rows", rows}}.dump(2) + "\n");
    return 0;
  }
  write_output(formatted(rows, arguments.format));
  if (!best.is_null() && !arguments.quiet) {
    write_message(fmt::format("best: {}, validation loss {:.6f} at step {}\n", best["run"].get<std::string>(),
                              best["best_loss"].get<double>(), best["best_step"].dump()));
  }
  return 0;
}

}  // namespace chargpt
