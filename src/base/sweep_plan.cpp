#include "chargpt/base/sweep_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/model_size.hpp"
#include "chargpt/base/schedule.hpp"
#include "chargpt/base/windows.hpp"

namespace chargpt {
namespace {

/// What a run's data says of the run.
struct DataFacts {
  Json fingerprint;
  std::int64_t vocabulary;
  std::int64_t windows;
  std::shared_ptr<const Corpus> corpus;
};

void require_files(const DataConfig& data) {
  if (data.path.empty()) {
    throw Error(ExitCode::usage, "no data to train on: give --data PATH, or data.path in the config or grid");
  }
  for (const std::string& path : {data.path, data.val_path, data.test_path}) {
    if (path != "-") continue;
    throw Error(ExitCode::usage, "data from standard input can be read but once: write it to a file for a sweep");
  }
}

/// Of memory, or of a file that has no name and is there for this corpus alone.
std::size_t bytes_of(const Corpus& corpus) {
  if (!corpus.file.empty()) return 0;
  return static_cast<std::size_t>(corpus.train.size() + corpus.val.size() + corpus.test.size()) * sizeof(std::int32_t);
}

/// Data is read once for all runs that cut it alike.
class DataReader {
 public:
  const DataFacts& facts(const Config& config) {
    Json json = to_json(config);
    for (const char* order : {"windows", "stride"}) json["data"].erase(order);
    const std::string data = json["data"].dump();
    const std::string windows =
        fmt::format("{} {} {} {}", data, config.data.stride, json["eval"].dump(), config.model.context);
    const auto known = facts_.find(windows);
    return known != facts_.end() ? known->second : facts_.emplace(windows, read(config, data)).first->second;
  }

 private:
  DataFacts read(const Config& config, const std::string& data) {
    require_files(config.data);
    auto corpus = std::make_shared<const Corpus>(load_corpus(config));
    const WindowIndex index(corpus->train, config.model.context, config.data.stride);
    DataFacts facts{{corpus->fingerprint.bytes, corpus->fingerprint.hash}, corpus->tokenizer.size(), index.size(), {}};
    facts.corpus = keep(data, std::move(corpus));
    return facts;
  }

  /// The first one that was read from this data; nothing where all together would be too much.
  std::shared_ptr<const Corpus> keep(const std::string& data, std::shared_ptr<const Corpus> corpus) {
    constexpr std::size_t kMostBytes = 1 << 30;
    const auto known = corpora_.find(data);
    if (known != corpora_.end()) return known->second;
    if (kept_bytes_ + bytes_of(*corpus) > kMostBytes) return nullptr;
    kept_bytes_ += bytes_of(*corpus);
    return corpora_.emplace(data, std::move(corpus)).first->second;
  }

  std::map<std::string, DataFacts> facts_;                        ///< by what cuts windows from it
  std::map<std::string, std::shared_ptr<const Corpus>> corpora_;  ///< by the data alone
  std::size_t kept_bytes_ = 0;
};

/// Keys and sections that change nothing of what a run learns and records of it.
constexpr std::array kWithoutEffect = {"data.path", "data.val_path",    "data.test_path",  "data.cache", "train.keep",
                                       "run.pin",   "run.stop_signals", "run.tensorboard", "sample."};

bool has_effect(std::string_view key) {
  return std::none_of(kWithoutEffect.begin(), kWithoutEffect.end(), [key](std::string_view other) {
    return other.ends_with('.') ? key.starts_with(other) : key == other;
  });
}

/// Of the keys only those that are not at their defaults, so that a program with more keys knows the run too.
std::string content_of(const Config& config, const DataFacts& data) {
  Config own = config, plain;
  const KeyList keys = describe(own), defaults = describe(plain);
  Json content = Json::object();
  for (const ConfigKey& key : keys.keys()) {
    const Json value = key.get();
    if (has_effect(key.name) && value != defaults.find(key.name)->get()) content[key.name] = value;
  }
  return xxh3_128(Json{content, data.fingerprint}.dump());
}

/// " (model.width=9, run.seed=2)", cut where it is long.
std::string describe_point(const Json& point) {
  constexpr std::size_t kLongest = 200;
  std::string text;
  for (const auto& [key, value] : point.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, to_json_line(value));
  }
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text.empty() ? "" : fmt::format(" ({})", text);
}

Json with_point(Json json, const Json& point, std::int64_t repetition) {
  for (const auto& [name, value] : point.items()) {
    const auto dot = name.find('.');
    json[name.substr(0, dot)][name.substr(dot + 1)] = value;
  }
  json["run"]["seed"] = json["run"]["seed"].get<std::int64_t>() + repetition;
  return json;
}

SweepRun plan_run(const Json& json, DataReader& reader) {
  SweepRun run;
  run.config = config_from_json(json, "the run's config");
  check_rules(run.config);
  const DataFacts& data = reader.facts(run.config);
  run.content = content_of(run.config, data);
  run.vocabulary = data.vocabulary;
  run.windows = data.windows;
  run.corpus = data.corpus;
  check_schedule(run.config.schedule, run.steps());
  return run;
}

}  // namespace

std::int64_t SweepRun::parameters() const { return parameter_count(config.model, vocabulary); }

std::int64_t SweepRun::steps() const { return total_steps(config.train, windows, config.model.context); }

double SweepRun::characters() const {
  return static_cast<double>(steps()) * static_cast<double>(config.train.batch * config.model.context);
}

double SweepRun::operations() const {
  // Forward and twice that back: 2 for each weight and character, and attention to half of the context on average.
  const ModelConfig& model = config.model;
  const auto weights = static_cast<double>(parameters() - (vocabulary + model.context) * model.width);
  const double attention = 2.0 * static_cast<double>(model.layers * model.width * model.context);
  return characters() * 3.0 * (2.0 * weights + attention);
}

double SweepRun::most_memory() const {
  // Weights, gradients, moments and two copies; of a position what the widest path keeps for the way back.
  const ModelConfig& model = config.model;
  constexpr std::int64_t kCopies = 6, kWidths = 40, kScores = 5, kLogits = 4;
  const std::int64_t layer = kWidths * model.width + kScores * model.heads * model.context;
  const auto position = static_cast<double>(model.layers * layer + kLogits * vocabulary);
  const double positions = static_cast<double>(config.train.windows_per_pass()) * static_cast<double>(model.context);
  return sizeof(float) * (static_cast<double>(kCopies * parameters()) + positions * position);
}

std::int64_t SweepRun::disk_bytes() const {
  constexpr std::int64_t kNumbersEach = 3, kBytes = 4;     // a weight and its two moments
  constexpr std::int64_t kRecordBytes = 150;               // of a step in metrics.jsonl
  const std::int64_t checkpoints = config.train.keep + 1;  // and the best
  return checkpoints * parameters() * kNumbersEach * kBytes + steps() * kRecordBytes;
}

std::vector<SweepRun> plan_runs(const Config& base, const Grid& grid, const std::string& source) {
  const Json base_json = to_json(base);
  DataReader reader;
  std::vector<SweepRun> runs;
  std::set<std::string> contents;
  for (std::size_t p = 0; p < grid.points.size(); ++p) {
    const Json& point = grid.points[p];
    for (std::int64_t repetition = 0; repetition < grid.seeds; ++repetition) {
      try {
        SweepRun run = plan_run(with_point(base_json, point, repetition), reader);
        if (contents.insert(run.content).second) runs.push_back(std::move(run));
      } catch (const Error& error) {
        throw Error(error.code(),
                    fmt::format("{}, point {}{}: {}", source, p + 1, describe_point(point), error.what()));
      }
    }
  }
  return runs;
}

}  // namespace chargpt
