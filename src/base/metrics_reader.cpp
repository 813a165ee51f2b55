#include "chargpt/base/metrics_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
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

/// Where reading stands in a file.
struct Place {
  const std::string& path;
  std::int64_t lines = 0;
  ForeignLines foreign;
};

/// Calls `take` for each record of the whole lines of `text`. Returns the bytes that these lines have.
std::size_t take_lines(std::string_view text, Place& place, const std::function<void(const Json& record)>& take) {
  std::size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', begin)) {
    ++place.lines;
    if (const auto record = parse_record(text.substr(begin, end - begin))) {
      require_known_version(*record, place.path, place.lines);
      take(*record);
    } else if (++place.foreign.count == 1) {
      place.foreign.first = place.lines;
    }
    begin = end + 1;
  }
  return begin;
}

/// The bytes from `offset` on; nothing of a file that cannot be read.
std::string read_from(const std::string& path, std::uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

ForeignLines read_records(const std::string& path, const std::function<void(const Json& record)>& take) {
  Place place{path, 0, {}};
  take_lines(read_file(path), place, take);
  return place.foreign;
}

RunMetrics read_metrics(const std::string& path) {
  RunMetrics metrics;
  metrics.foreign = read_records(path, [&](const Json& record) { take_record(record, metrics); });
  return metrics;
}

MetricsFollower::News MetricsFollower::read() {
  News news;
  std::error_code missing;
  const std::uint64_t size = std::filesystem::file_size(path_, missing);
  if (missing || size == read_) return news;
  if (size < read_) {
    news.anew = true;
    read_ = 0;
    lines_ = 0;
  }
  Place place{path_, lines_, {}};
  read_ += take_lines(read_from(path_, read_), place, [&](const Json& record) { take_record(record, news.metrics); });
  lines_ = place.lines;
  news.metrics.foreign = place.foreign;
  return news;
}

std::optional<double> SmoothedLoss::add(const StepMetrics& step) {
  if (!step.loss || step.skipped) return mean_;
  const double before = mean_.value_or(0.0);
  mean_ = before + std::max(kSmoothing, 1.0 / static_cast<double>(++count_)) * (*step.loss - before);
  return mean_;
}

std::vector<std::pair<std::int64_t, double>> smoothed_losses(const std::vector<StepMetrics>& steps) {
  std::vector<std::pair<std::int64_t, double>> losses;
  SmoothedLoss smoothed;
  for (const StepMetrics& step : steps) {
    const auto mean = smoothed.add(step);
    if (step.loss && !step.skipped) losses.emplace_back(step.step, *mean);
  }
  return losses;
}

}  // namespace chargpt
