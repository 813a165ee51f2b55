#include "chargpt/base/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "chargpt/base/version.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kManyRuns = 10;     // from here on each gets less room
constexpr std::size_t kPromptBytes = 60;  // of a prompt in a heading

struct Limits {
  std::size_t points, samples, characters;
};

Limits limits_for(std::size_t runs) { return runs < kManyRuns ? Limits{600, 40, 20'000} : Limits{150, 4, 1'000}; }

/// Six digits are more than a screen shows; more make the page large.
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

/// Every n-th element, so that at most `most` and one are left; the last one always.
template <class T>
std::vector<T> thinned(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  const std::size_t every = (all.size() + most - 1) / most;
  std::vector<T> few;
  for (std::size_t i = 0; i < all.size(); i += every) few.push_back(all[i]);
  if ((all.size() - 1) % every != 0) few.push_back(all.back());
  return few;
}

/// Means of as many neighbours as it takes to leave `most` points, for numbers that jump from step to step.
std::vector<Point> averaged(const std::vector<Point>& all, std::size_t most) {
  const std::size_t every = std::max<std::size_t>(1, (all.size() + most - 1) / most);
  std::vector<Point> few;
  for (std::size_t begin = 0; begin < all.size(); begin += every) {
    const std::size_t end = std::min(begin + every, all.size());
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += all[i].y;
    few.push_back({all[end - 1].x, sum / static_cast<double>(end - begin)});
  }
  return few;
}

Json curve(const std::vector<Point>& points) {
  Json steps = Json::array(), values = Json::array();
  for (const Point& point : points) {
    steps.push_back(static_cast<std::int64_t>(point.x));
    values.push_back(rounded(point.y));
  }
  return Json::array({std::move(steps), std::move(values)});
}

void add_curves(const RunHistory& run, std::size_t most, Json& json) {
  std::vector<Point> training, validation, rates, norms, speeds;
  for (const auto& [step, loss] : smoothed_losses(run.metrics.steps)) {
    training.push_back({static_cast<double>(step), loss});
  }
  for (const EvaluationMetrics& evaluation : run.metrics.evaluations) {
    validation.push_back({static_cast<double>(evaluation.step), evaluation.nats_per_char});
  }
  const Json batch = run.key("train", "batch"), context = run.key("model", "context");
  const double chars = batch.is_number() && context.is_number() ? batch.get<double>() * context.get<double>() : 0;
  for (const StepMetrics& step : run.metrics.steps) {
    const auto x = static_cast<double>(step.step);
    if (step.learning_rate) rates.push_back({x, *step.learning_rate});
    if (step.gradient_norm) norms.push_back({x, *step.gradient_norm});
    if (chars > 0 && step.seconds > 1e-9) speeds.push_back({x, chars / step.seconds});
  }
  json["training"] = curve(thinned(training, most));
  json["validation"] = curve(thinned(validation, most));
  json["learning_rate"] = curve(thinned(rates, most));
  json["gradient_norm"] = curve(averaged(norms, most));
  json["chars_per_second"] = curve(averaged(speeds, most));
}

/// Cut between characters.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + " ...";
}

/// The samples of each step at which there are any.
std::vector<std::vector<SampleMetrics>> by_step(const std::vector<SampleMetrics>& samples) {
  std::vector<std::vector<SampleMetrics>> steps;
  for (const SampleMetrics& sample : samples) {
    if (steps.empty() || steps.back()[0].step != sample.step) steps.emplace_back();
    steps.back().push_back(sample);
  }
  return steps;
}

/// All samples of some of the steps, so that every prompt can be followed. One prompt alone is not named.
Json samples_of(const RunHistory& run, const Limits& limits) {
  const auto steps = by_step(run.metrics.samples);
  std::size_t prompts = 1;
  for (const auto& drawn : steps) prompts = std::max(prompts, drawn.size());
  Json samples = Json::array();
  for (const auto& drawn : thinned(steps, std::max<std::size_t>(1, limits.samples / prompts))) {
    for (const SampleMetrics& sample : drawn) {
      samples.push_back({{"step", sample.step},
                         {"prompt", prompts == 1 ? "" : shortened(sample.prompt, kPromptBytes)},
                         {"text", shortened(sample.text, limits.characters)}});
    }
  }
  return samples;
}

Json flat(const Json& config) {
  Json keys = Json::object();
  if (!config.is_object()) return keys;
  for (const auto& [section, members] : config.items()) {
    if (!members.is_object()) continue;
    for (const auto& [name, value] : members.items()) keys[section + "." + name] = value;
  }
  return keys;
}

Json run_json(const RunHistory& run, const Limits& limits) {
  const RunSummary summary = summarize(run);
  Json json;
  json["name"] = run.name;
  json["parameters"] = run.parameters ? Json(*run.parameters) : Json(nullptr);
  json["summary"] = to_json(summary);
  json["words"] = in_words(summary);
  json["notes"] = run.notes;
  json["config"] = flat(run.config);
  json["samples"] = samples_of(run, limits);
  add_curves(run, limits.points, json);
  return json;
}

/// Keys that not all runs have with one value, in the order of the first run that has them.
Json varied_keys(const Json& runs) {
  Json varied = Json::array();
  Json seen = Json::object();
  for (const Json& run : runs) {
    for (const auto& [key, value] : run["config"].items()) {
      if (!seen.contains(key)) seen[key] = value;
    }
  }
  for (const auto& item : seen.items()) {
    const auto same = [&](const Json& run) {
      return run["config"].contains(item.key()) && run["config"][item.key()] == item.value();
    };
    if (!std::all_of(runs.begin(), runs.end(), same)) varied.push_back(item.key());
  }
  return varied;
}

}  // namespace

Json report_data(const std::vector<RunHistory>& runs) {
  const Limits limits = limits_for(runs.size());
  Json list = Json::array();
  for (const RunHistory& run : runs) list.push_back(run_json(run, limits));
  Json data;
  data["program"] = fmt::format("chargpt {}", version());
  data["varied"] = varied_keys(list);
  data["runs"] = std::move(list);
  return data;
}

}  // namespace chargpt
