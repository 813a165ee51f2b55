#include "chargpt/base/metrics_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "chargpt/base/file.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr double kSmoothing = 0.02;
constexpr double kLargest = 1e150;             // of a number that is taken: sums and products of such are finite
constexpr std::int64_t kLastStep = 1LL << 53;  // up to here every step is a double, too

/// Nothing if the line is no record.
std::optional<Json> parse_record(std::string_view line) {
  try {
    Json record = parse_json(line, {.source = "record"});
    const bool known = record.is_object() && record.contains("event") && record["event"].is_string();
    return known ? std::optional(std::move(record)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void require_known_version(const Json& record, const std::string& path, std::int64_t line) {
  const auto version = record.find("v");
  if (version == record.end() || !version->is_number() || version->get<double>() <= kVersion) return;
  throw Error(ExitCode::bad_data,
              fmt::format("{}, line {}: a record of version {}; this program reads version {}: use a newer one", path,
                          line, version->dump(), kVersion));
}

std::optional<double> number(const Json& record, const char* name) {
  const auto member = record.find(name);
  if (member == record.end() || !member->is_number()) return std::nullopt;
  const double value = member->get<double>();
  return std::abs(value) <= kLargest ? std::optional(value) : std::nullopt;
}

/// Empty where there is none.
std::string text_member(const Json& record, const char* name) {
  const auto member = record.find(name);
  return member != record.end() && member->is_string() ? member->get<std::string>() : "";
}

/// -1 where there is none.
std::int64_t step_of(const Json& record) {
  const auto step = record.find("step");
  if (step == record.end() || !step->is_number_integer()) return -1;
  const auto number = step->get<std::int64_t>();
  return number <= kLastStep ? number : -1;
}

StepMetrics step_metrics(const Json& record) {
  StepMetrics metrics;
  metrics.step = step_of(record);
  metrics.loss = number(record, "loss");
  metrics.learning_rate = number(record, "learning_rate");
  metrics.gradient_norm = number(record, "gradient_norm");
  metrics.seconds = number(record, "seconds").value_or(0.0);
  metrics.skipped = record.contains("skipped");
  return metrics;
}

void take_record(const Json& record, RunMetrics& metrics) {
  const auto& event = record["event"].get_ref<const std::string&>();
  const std::int64_t step = step_of(record);
  if (step < 0) return;
  if (event == "step") {
    metrics.steps.push_back(step_metrics(record));
  } else if (event == "evaluation") {
    if (const auto nats = number(record, "nats_per_char")) metrics.evaluations.push_back({step, *nats});
  } else if (event == "sample" && record.contains("text") && record["text"].is_string()) {
    metrics.samples.push_back({step, record["text"].get<std::string>(), text_member(record, "prompt")});
  } else if (event == "end" && record.contains("stopped")) {
    const Json& stopped = record["stopped"];
    metrics.end = EndMetrics{step, stopped.is_string() ? stopped.get<std::string>() : ""};
  }
}

}  // namespace

ForeignLines read_records(const std::string& path, const std::function<void(const Json& record)>& take) {
  const std::string text = read_file(path);
  ForeignLines foreign;
  std::int64_t line = 0;
  std::size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    ++line;
    if (const auto record = parse_record(std::string_view(text).substr(begin, end - begin))) {
      require_known_version(*record, path, line);
      take(*record);
    } else if (++foreign.count == 1) {
      foreign.first = line;
    }
    begin = end + 1;
  }
  return foreign;
}

RunMetrics read_metrics(const std::string& path) {
  RunMetrics metrics;
  metrics.foreign = read_records(path, [&](const Json& record) { take_record(record, metrics); });
  return metrics;
}

std::vector<std::pair<std::int64_t, double>> smoothed_losses(const std::vector<StepMetrics>& steps) {
  std::vector<std::pair<std::int64_t, double>> losses;
  double smoothed = 0.0;
  for (const StepMetrics& step : steps) {
    if (!step.loss || step.skipped) continue;
    smoothed += std::max(kSmoothing, 1.0 / static_cast<double>(losses.size() + 1)) * (*step.loss - smoothed);
    losses.emplace_back(step.step, smoothed);
  }
  return losses;
}

}  // namespace chargpt
