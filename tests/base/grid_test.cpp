#include "chargpt/base/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

Grid parse(const std::string& text, std::uint64_t seed = 1) { return parse_grid(text, "g.json", seed); }

TEST(Grid, EveryCombinationWithTheLastKeyFastest) {
  const Grid grid = parse(R"({"grid": {"model.width": [64, 128], "optimizer.learning_rate": [1e-3, 3e-3]}})");
  ASSERT_EQ(grid.points.size(), 4U);
  EXPECT_EQ(grid.points[0], (Json{{"model.width", 64}, {"optimizer.learning_rate", 1e-3}}));
  EXPECT_EQ(grid.points[1], (Json{{"model.width", 64}, {"optimizer.learning_rate", 3e-3}}));
  EXPECT_EQ(grid.points[3], (Json{{"model.width", 128}, {"optimizer.learning_rate", 3e-3}}));
  EXPECT_EQ(grid.seeds, 1);
}

TEST(Grid, GridThenRandomThenList) {
  const Grid grid = parse(R"({"list": [{"model.layers": 2}, {}], "seeds": 3, "grid": {"model.layers": [7]},
                              "random": {"count": 1, "model.layers": {"choice": [5]}}})");
  const std::vector<Json> expected = {
      {{"model.layers", 7}}, {{"model.layers", 5}}, {{"model.layers", 2}}, Json::object()};
  EXPECT_EQ(grid.points, expected);
  EXPECT_EQ(grid.seeds, 3);
}

TEST(Grid, WithoutPointsTheBaseIsTheOnlyOne) {
  EXPECT_EQ(parse("{}").points, std::vector<Json>{Json::object()});
  EXPECT_EQ(parse(R"({"seeds": 2})").points.size(), 1U);
}

TEST(Grid, ValuesAreHeldAsTheirKeysHoldThem) {
  const Grid grid = parse(
      R"({"list": [{"model.width": 64.0, "optimizer.learning_rate": 1, "train.eval_every": "2 epochs", "run.device": "cpu",
                    "optimizer.betas": [0.5, 1e-1], "data.windows": "shuffled", "sample.exact": true}]})");
  const Json& point = grid.points[0];
  EXPECT_TRUE(point["model.width"].is_number_integer());
  EXPECT_TRUE(point["optimizer.learning_rate"].is_number_float());
  EXPECT_EQ(point["train.eval_every"], "2 epochs");
  EXPECT_EQ(point["optimizer.betas"], Json::parse("[0.5, 0.1]"));
  EXPECT_EQ(point["data.windows"], "shuffled");
}

std::vector<double> draws(const std::string& source, const std::string& key, int count, std::uint64_t seed = 1) {
  const Grid grid =
      parse(R"({"random": {"count": )" + std::to_string(count) + ", \"" + key + "\": " + source + "}}", seed);
  std::vector<double> values;
  for (const Json& point : grid.points) values.push_back(point.at(key).get<double>());
  return values;
}

TEST(Grid, UniformDrawsFillTheInterval) {
  auto values = draws(R"({"uniform": [0.1, 0.5]})", "model.dropout", 4000);
  std::sort(values.begin(), values.end());
  EXPECT_GE(values.front(), 0.1);
  EXPECT_LE(values.back(), 0.5);
  for (int i = 1; i < 4; ++i) EXPECT_NEAR(values[1000 * static_cast<std::size_t>(i)], 0.1 + 0.1 * i, 0.02);
}

TEST(Grid, LogUniformDrawsFillTheDecadesAlike) {
  const auto values = draws(R"({"log_uniform": [1e-4, 1e-1]})", "optimizer.learning_rate", 3000);
  for (const double low : {1e-4, 1e-3, 1e-2}) {
    const auto in = std::count_if(values.begin(), values.end(), [&](double v) { return v >= low && v < 10 * low; });
    EXPECT_NEAR(static_cast<double>(in), 1000, 100) << low;
  }
}

TEST(Grid, WholeNumbersAreDrawnWithBothEnds) {
  for (const char* source : {R"({"uniform": [2, 4]})", R"({"log_uniform": [2, 4]})"}) {
    const auto values = draws(source, "model.layers", 600);
    for (const double end : {2.0, 3.0, 4.0}) EXPECT_GT(std::count(values.begin(), values.end(), end), 100) << source;
    EXPECT_EQ(*std::max_element(values.begin(), values.end()), 4.0);
  }
}

TEST(Grid, NumbersAreRoundedToSixDigits) {
  for (const double value : draws(R"({"uniform": [0, 1]})", "optimizer.weight_decay", 50)) {
    EXPECT_NEAR(value * 1e12, std::round(value * 1e12), 1e-3) << value;
    EXPECT_LE(Json(value).dump().size(), 12U) << value;
  }
  EXPECT_EQ(draws(R"({"uniform": [0.12345678, 0.12345678]})", "model.dropout", 1)[0], 0.12345678);
}

TEST(Grid, ADrawDependsOnSeedKeyAndNumberAlone) {
  const std::string dropout = R"("model.dropout": {"uniform": [0, 0.4]})";
  const Grid few = parse(R"({"random": {"count": 3, )" + dropout + "}}");
  const Grid many = parse(R"({"random": {"count": 9, "model.layers": {"choice": [1, 2]}, )" + dropout + "}}");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(few.points[i]["model.dropout"], many.points[i]["model.dropout"]);
  EXPECT_NE(few.points[0], few.points[1]);
  EXPECT_NE(few.points, parse(R"({"random": {"count": 3, )" + dropout + "}}", 2).points);
  const auto weights = draws(R"({"uniform": [0, 1]})", "optimizer.weight_decay", 1);
  EXPECT_NE(weights, draws(R"({"uniform": [0, 1]})", "optimizer.clip", 1));
}

TEST(Grid, SaysWhatIsWrongAndWhere) {
  const auto refused = [](const std::string& text, std::initializer_list<std::string> parts) {
    SCOPED_TRACE(text);
    expect_error(ExitCode::usage, parts, [&] { parse(text); });
  };
  refused("[1]", {"g.json", "array", "object"});
  refused(R"({"grit": {}})", {"g.json", "grit", "did you mean \"grid\"?"});
  refused(R"({"grid": {"model.widht": [1]}})", {"g.json: grid", "model.widht", "did you mean \"model.width\"?"});
  refused(R"({"grid": {"width": [1]}})", {"g.json: grid", "width", "section.key"});
  refused(R"({"grid": {"model": [{"width": 1}]}})", {"g.json: grid", "\"model\"", "section.key"});
  refused(R"({"grid": {"model.width": [64, "x"]}})", {"g.json: grid", "model.width", "\"x\"", "integer"});
  refused(R"({"grid": {"model.width": 64}})", {"g.json: grid", "model.width", "wanted a list"});
  refused(R"({"grid": {"model.width": []}})", {"g.json: grid", "model.width", "empty list"});
  refused(R"({"grid": [1]})", {"g.json: grid", "wanted an object"});
  refused(R"({"random": {"model.dropout": {"uniform": [0, 1]}}})", {"g.json: random", "\"count\" is missing"});
  refused(R"({"random": {"count": 0}})", {"g.json: random: \"count\"", "1 to 10000"});
  refused(R"({"random": {"count": 2, "model.dropout": [0, 1]}})", {"random", "model.dropout", "uniform"});
  refused(R"({"random": {"count": 2, "model.dropout": {"unifrom": [0, 0.1]}}})", {"unifrom", "did you mean"});
  refused(R"({"random": {"count": 2, "model.dropout": {}}})", {"model.dropout", "got 0 of"});
  refused(R"({"random": {"count": 2, "model.dropout": {"uniform": [0.2, 0.1]}}})",
          {"model.dropout", "lower one first"});
  refused(R"({"random": {"count": 2, "model.dropout": {"uniform": [0.2]}}})", {"model.dropout", "two numbers"});
  refused(R"({"random": {"count": 2, "model.dropout": {"uniform": [0, 2]}}})", {"random", "model.dropout", "got 2"});
  refused(R"({"random": {"count": 2, "model.dropout": {"log_uniform": [0, 0.1]}}})", {"model.dropout", "above 0"});
  refused(R"({"random": {"count": 2, "run.device": {"uniform": ["a", "b"]}}})", {"run.device", "choice"});
  refused(R"({"list": [{"model.layers": 2}, {"model.layers": 0}]})", {"list, entry 2", "model.layers", "got 0"});
  refused(R"({"list": [3]})", {"list, entry 1", "wanted an object"});
  refused(R"({"seeds": 0})", {"g.json: seeds", "got \"0\"", "1 to 10000"});
  refused(R"({"seeds": 1.5})", {"g.json: seeds", "1.5"});
}

TEST(Grid, HasALimitThatIsFoundBeforeItIsReached) {
  std::string list = "[1";
  for (int i = 2; i <= 200; ++i) list += ", " + std::to_string(i);
  list += "]";
  expect_error(ExitCode::usage, {"g.json: grid", "40000 runs", "10000"},
               [&] { parse(R"({"grid": {"model.layers": )" + list + R"(, "train.batch": )" + list + "}}"); });
  expect_error(ExitCode::usage, {"g.json", "20000 runs"},
               [&] { parse(R"({"grid": {"model.layers": )" + list + R"(}, "seeds": 100})"); });
}

}  // namespace
}  // namespace chargpt
