#include "chargpt/base/sweep_results.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/sweep_support.hpp"
#include "chargpt/base/config_loader.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

class SweepResults : public SweepTest {
 protected:
  /// Two widths by two seeds; the run of width 16 and seed 2 has not begun.
  SweepResults() {
    runs_ = plan(R"({"grid": {"model.width": [8, 16]}, "seeds": 2})");
    note_plan(paths_, runs_);
    const double losses[] = {2.0, 2.5, 3.0};
    for (std::size_t i = 0; i < 3; ++i) write_run(runs_[i], losses[i]);
    for (std::size_t i = 0; i < 2; ++i) write_outcome(paths_, runs_[i], {runs_[i].content, 0, {}});
  }

  void write_run(const SweepRun& run, double loss) const {
    std::filesystem::create_directories(paths_.run(run));
    std::ofstream(paths_.run(run) + "/config.json") << to_json(run.config).dump();
    std::ofstream(paths_.run(run) + "/metrics.jsonl")
        << R"({"v":1,"event":"step","step":1,"loss":4.0,"seconds":0.5})"
        << "\n"
        << R"({"v":1,"event":"evaluation","step":1,"nats_per_char":)" << loss << "}\n"
        << R"({"v":1,"event":"step","step":2,"loss":3.5,"seconds":1.5})"
        << "\n"
        << R"({"v":1,"event":"evaluation","step":2,"nats_per_char":)" << loss + 0.25 << "}\n";
  }

  Json rows() const { return sweep_rows(paths_, read_plan(paths_)); }

  SweepPaths paths_{dir_ / "sweep"};
  std::vector<SweepRun> runs_;
};

TEST_F(SweepResults, ARowSaysHowARunWent) {
  const Json row = rows()[1];
  EXPECT_EQ(row["run"], paths_.root + "/width=8,seed=2");
  EXPECT_EQ(row["state"], "finished");
  EXPECT_EQ(row["exit_code"], 0);
  EXPECT_EQ(row["model.width"], 8);
  EXPECT_EQ(row["run.seed"], 2);
  EXPECT_EQ(row["step"], 2);
  EXPECT_EQ(row["final_loss"], 2.75);
  EXPECT_EQ(row["best_loss"], 2.5);
  EXPECT_EQ(row["best_step"], 1);
  EXPECT_NEAR(row["bits_per_char"].get<double>(), 2.5 / std::log(2.0), 1e-12);
  EXPECT_EQ(row["parameters"], runs_[1].parameters());
  EXPECT_EQ(row["seconds"], 2.0);
  EXPECT_EQ(row["chars_per_second"], 2.0 * 4 * 16 / 2.0);  // steps * batch * context / seconds
}

TEST_F(SweepResults, EveryRunHasAStateAndAllColumns) {
  write_outcome(paths_, runs_[1], {runs_[1].content, 76, {"error"}});
  const Json all = rows();
  ASSERT_EQ(all.size(), 4U);
  std::vector<std::string> states;
  for (const Json& row : all) {
    states.push_back(row["state"]);
    EXPECT_EQ(row.size(), all[0].size());
  }
  EXPECT_EQ(states, (std::vector<std::string>{"finished", "failed", "unfinished", "waiting"}));
  EXPECT_EQ(all[1]["exit_code"], 76);
  EXPECT_TRUE(all[3]["best_loss"].is_null() && all[3]["chars_per_second"].is_null() && all[3]["exit_code"].is_null());
}

TEST_F(SweepResults, SeedsAreOneRow) {
  const Json grouped = group_over_seeds(rows(), {"model.width", "run.seed"});
  ASSERT_EQ(grouped.size(), 2U);
  const Json& row = grouped[0];
  EXPECT_FALSE(row.contains("run.seed"));
  EXPECT_EQ(row["model.width"], 8);
  EXPECT_EQ(row["n"], 2);
  EXPECT_EQ(row["failed"], 0);
  EXPECT_EQ(row["best_loss_mean"], 2.25);
  EXPECT_EQ(row["final_loss_mean"], 2.5);
  // Two values: deviation |a - b| / sqrt(2), interval mean -+ 12.706 * deviation / sqrt(2).
  EXPECT_NEAR(row["best_loss_sd"].get<double>(), 0.5 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(row["best_loss_high"].get<double>(), 2.25 + 12.7062 * 0.25, 1e-3);
  EXPECT_NEAR(row["best_loss_low"].get<double>(), 2.25 - 12.7062 * 0.25, 1e-3);
  EXPECT_EQ(row["seconds"], 2.0);
  write_outcome(paths_, runs_[2], {runs_[2].content, 0, {}});
  const Json alone = group_over_seeds(rows(), {"model.width", "run.seed"})[1];
  EXPECT_EQ(alone["n"], 1);
  EXPECT_TRUE(alone["best_loss_sd"].is_null() && alone["best_loss_low"].is_null());
}

TEST_F(SweepResults, AGroupTellsOfThoseThatFailed) {
  write_outcome(paths_, runs_[1], {runs_[1].content, 76, {"error"}});
  write_outcome(paths_, runs_[2], {runs_[2].content, 76, {"error"}});
  const Json grouped = group_over_seeds(rows(), {"model.width", "run.seed"});
  ASSERT_EQ(grouped.size(), 2U);
  EXPECT_EQ(grouped[0]["n"], 1);
  EXPECT_EQ(grouped[0]["failed"], 1);
  EXPECT_EQ(grouped[1]["n"], 0);
  EXPECT_EQ(grouped[1]["failed"], 1);
  EXPECT_TRUE(grouped[1]["best_loss_mean"].is_null() && grouped[1]["seconds"].is_null());
}

TEST_F(SweepResults, ARunWhoseFolderIsGoneHasNotFinished) {
  std::filesystem::remove_all(paths_.run(runs_[0]));
  EXPECT_EQ(rows()[0]["state"], "waiting");
}

TEST_F(SweepResults, RowsAreChosenAndSorted) {
  Json all = rows();
  EXPECT_EQ(rows_where(all, "model.width", "16").size(), 2U);
  EXPECT_EQ(rows_where(all, "model.width", "16.0").size(), 2U);
  EXPECT_EQ(rows_where(all, "state", "finished").size(), 2U);
  EXPECT_EQ(rows_where(all, "state", "{").size(), 0U);
  expect_error(ExitCode::usage, {"no column \"model.widht\"", "did you mean \"model.width\"?"},
               [&] { rows_where(all, "model.widht", "1"); });
  expect_error(ExitCode::usage, {"no column", "the columns are run, state"}, [&] { sort_rows(all, "qqqqqq", false); });
  sort_rows(all, "best_loss", true);
  EXPECT_EQ(all[0]["best_loss"], 3.0);
  EXPECT_TRUE(all[3]["best_loss"].is_null());
  sort_rows(all, "best_loss", false);
  EXPECT_EQ(all[0]["best_loss"], 2.0);
  EXPECT_TRUE(all[3]["best_loss"].is_null());
}

}  // namespace
}  // namespace chargpt
