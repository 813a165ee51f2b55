#include "chargpt/base/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/nearest.hpp"
#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

void require_members(const Json& object, const std::vector<std::string>& known, const std::string& where) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest(name, known);
    fail_usage(fmt::format("{}: unknown member {}; {}", where, shown(name),
                           near.empty() ? fmt::format("the members are {}", fmt::join(known, ", "))
                                        : fmt::format("did you mean \"{}\"?", near)));
  }
}

void require_object(const Json& json, const std::string& where, const char* example) {
  if (!json.is_object())
    fail_usage(fmt::format("{}: got {}, wanted an object such as {}", where, json.type_name(), example));
}

void require_list(const Json& json, const std::string& where, const char* example) {
  if (!json.is_array())
    fail_usage(fmt::format("{}: got {}, wanted a list such as {}", where, json.type_name(), example));
  if (json.empty()) fail_usage(fmt::format("{}: an empty list: give at least one value, or leave it out", where));
}

void require_count(double count, const std::string& where) {
  if (count > static_cast<double>(kMaxSweepRuns)) {
    fail_usage(fmt::format("{}: that is {:.0f} runs; a sweep has at most {}", where, count, kMaxSweepRuns));
  }
}

std::int64_t whole_number(const Json& json, const std::string& where) {
  const bool fits = json.is_number_integer() && json >= 1 && json <= kMaxSweepRuns;
  if (!fits)
    fail_usage(fmt::format("{}: got {}, wanted an integer, 1 to {}", where, shown(json.dump()), kMaxSweepRuns));
  return json.get<std::int64_t>();
}

/// What the key makes of the value, as the loader would: 64.0 becomes 64, so that equal points are found equal.
Json as_held(const std::string& name, const Json& value, const std::string& where) {
  const auto dot = name.find('.');
  if (dot == std::string::npos) {
    fail_usage(fmt::format("{}: {} is no config key: write section.key, such as \"model.width\"", where, shown(name)));
  }
  Config config = config_from_json({{name.substr(0, dot), {{name.substr(dot + 1), value}}}}, where);
  return describe(config).find(name)->get();
}

/// The values that a key is to take, as the key holds them.
std::vector<Json> held_values(const std::string& key, const Json& list, const std::string& where) {
  require_list(list, fmt::format("{}: {}", where, shown(key)), "[1, 2]");
  std::vector<Json> values;
  for (const Json& value : list) values.push_back(as_held(key, value, where));
  return values;
}

std::vector<Json> grid_points(const Json& grid, const std::string& where) {
  require_object(grid, where, R"({"model.width": [64, 128]})");
  std::vector<Json> points = {Json::object()};
  for (const auto& [key, list] : grid.items()) {
    const std::vector<Json> values = held_values(key, list, where);
    require_count(static_cast<double>(points.size()) * static_cast<double>(values.size()), where);
    std::vector<Json> longer;
    for (const Json& point : points) {
      for (const Json& value : values) {
        longer.push_back(point);
        longer.back()[key] = value;
      }
    }
    points = std::move(longer);
  }
  return points;
}

enum class Distribution { uniform, log_uniform, choice };

/// Where the values of one key are drawn from.
struct Source {
  std::string key;
  Distribution distribution;
  std::vector<Json> values;  ///< the two ends, or what is chosen from

  /// `unit` in [0, 1).
  Json draw(double unit) const {
    if (distribution == Distribution::choice) {
      return values[static_cast<std::size_t>(unit * static_cast<double>(values.size()))];
    }
    const auto low = values[0].get<double>(), high = values[1].get<double>();
    const bool whole = values[0].is_number_integer();  // as the key holds it
    // A whole number n stands for [n, n + 1), so that both ends are drawn.
    const double value = between(low, whole ? high + 1 : high, unit);
    if (whole) return static_cast<std::int64_t>(std::clamp(std::floor(value), low, high));
    return std::clamp(std::stod(fmt::format("{:.6g}", value)), low, high);
  }

 private:
  double between(double low, double high, double unit) const {
    if (distribution == Distribution::uniform) return low + unit * (high - low);
    return std::exp(std::log(low) + unit * (std::log(high) - std::log(low)));
  }
};

Distribution parse_distribution(const std::string& name) {
  if (name == "uniform") return Distribution::uniform;
  return name == "log_uniform" ? Distribution::log_uniform : Distribution::choice;
}

void require_ends(const Source& source, const std::string& where) {
  const std::vector<Json>& ends = source.values;
  const bool two_numbers = ends.size() == 2 && ends[0].is_number() && ends[1].is_number();
  if (!two_numbers || ends[0] > ends[1]) {
    fail_usage(
        fmt::format("{}: got {}, wanted two numbers, the lower one first (a key that is no number takes \"choice\")",
                    where, shown(Json(ends).dump())));
  }
  if (source.distribution == Distribution::log_uniform && !(ends[0] > 0)) {
    fail_usage(fmt::format("{}: got {}, but the ends of log_uniform are above 0", where, ends[0].dump()));
  }
}

Source parse_source(const std::string& key, const Json& json, const std::string& where) {
  const std::string place = fmt::format("{}: {}", where, shown(key));
  require_object(json, place, R"({"uniform": [0, 0.4]})");
  require_members(json, {"uniform", "log_uniform", "choice"}, place);
  if (json.size() != 1)
    fail_usage(fmt::format("{}: got {} of uniform, log_uniform and choice, wanted one", place, json.size()));
  const auto distribution = json.begin();
  Source source{key, parse_distribution(distribution.key()), held_values(key, distribution.value(), where)};
  if (source.distribution != Distribution::choice) require_ends(source, place);
  return source;
}

/// Which draws belong to a key is told by its name.
std::uint64_t stream_of(const std::string& key) { return std::stoull(xxh3_128(key).substr(0, 13), nullptr, 16); }

std::vector<Json> random_points(const Json& random, std::uint64_t seed, const std::string& where) {
  require_object(random, where, R"({"count": 20, "model.dropout": {"uniform": [0, 0.4]}})");
  if (!random.contains("count")) fail_usage(fmt::format("{}: \"count\" is missing: how many points to draw", where));
  const std::int64_t count = whole_number(random["count"], where + ": \"count\"");
  std::vector<Json> points(static_cast<std::size_t>(count), Json::object());
  for (const auto& [key, json] : random.items()) {
    if (key == "count") continue;
    const Source source = parse_source(key, json, where);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i][key] = source.draw(random_unit(seed, Purpose::sweep, stream_of(key), i));
    }
  }
  return points;
}

std::vector<Json> list_points(const Json& list, const std::string& where) {
  require_list(list, where, R"([{"model.width": 64}])");
  std::vector<Json> points;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}, entry {}", where, i + 1);
    require_object(list[i], place, R"({"model.width": 64})");
    points.push_back(Json::object());
    for (const auto& [key, value] : list[i].items()) points.back()[key] = as_held(key, value, place);
  }
  return points;
}

}  // namespace

Grid parse_grid(const std::string& text, const std::string& source, std::uint64_t seed) {
  const Json json = parse_json(text, {.source = source});
  require_object(json, source, R"({"grid": {"model.width": [64, 128]}})");
  require_members(json, {"grid", "random", "list", "seeds"}, source);
  Grid grid;
  const auto append = [&](const std::vector<Json>& points) {
    grid.points.insert(grid.points.end(), points.begin(), points.end());
  };
  if (json.contains("grid")) append(grid_points(json["grid"], source + ": grid"));
  if (json.contains("random")) append(random_points(json["random"], seed, source + ": random"));
  if (json.contains("list")) append(list_points(json["list"], source + ": list"));
  if (grid.points.empty()) grid.points.push_back(Json::object());
  if (json.contains("seeds")) grid.seeds = whole_number(json["seeds"], source + ": seeds");
  require_count(static_cast<double>(grid.points.size()) * static_cast<double>(grid.seeds), source);
  return grid;
}

}  // namespace chargpt
