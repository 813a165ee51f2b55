#include "chargpt/base/run_history.hpp"

namespace chargpt {
namespace {

constexpr const char* kNats = "nats per character";

Series training(const RunMetrics& metrics, const std::string& name) {
  Series series{name, {}};
  for (const auto& [step, loss] : smoothed_losses(metrics.steps)) {
    series.points.push_back({static_cast<double>(step), loss});
  }
  return series;
}

Series validation(const RunMetrics& metrics, const std::string& name) {
  Series series{name, {}};
  for (const EvaluationMetrics& evaluation : metrics.evaluations) {
    series.points.push_back({static_cast<double>(evaluation.step), evaluation.nats_per_char});
  }
  return series;
}

Series learning_rate(const RunMetrics& metrics, const std::string& name) {
  Series series{name, {}};
  for (const StepMetrics& step : metrics.steps) {
    if (step.learning_rate) series.points.push_back({static_cast<double>(step.step), *step.learning_rate});
  }
  return series;
}

/// A chart with one curve of each run.
Chart chart_of(const std::string& title, const char* unit, const std::vector<RunHistory>& runs,
               Series (*curve)(const RunMetrics&, const std::string&)) {
  Chart chart{title, "step", unit, {}};
  for (const RunHistory& run : runs) {
    Series series = curve(run.metrics, run.name);
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<Chart> charts_of(const std::vector<RunHistory>& runs) {
  std::vector<Chart> charts;
  if (runs.size() == 1) {
    Chart loss{"loss", "step", kNats, {training(runs[0].metrics, "training (smoothed)")}};
    if (!runs[0].metrics.evaluations.empty()) loss.series.push_back(validation(runs[0].metrics, "validation"));
    charts.push_back(std::move(loss));
  } else {
    charts.push_back(chart_of("training loss (smoothed)", kNats, runs, training));
    charts.push_back(chart_of("validation loss", kNats, runs, validation));
  }
  charts.push_back(chart_of("learning rate", "", runs, learning_rate));
  std::erase_if(charts, [](const Chart& chart) { return chart.empty(); });
  return charts;
}

}  // namespace chargpt
