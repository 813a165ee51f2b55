#include "chargpt/base/sweep_plan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/sweep_support.hpp"
#include "chargpt/base/file.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

class SweepPlan : public SweepTest {
 protected:
  std::vector<SweepRun> named(const std::string& grid, const std::vector<SweepRun>& known = {}) const {
    std::vector<SweepRun> runs = plan(grid);
    name_runs(runs, known);
    return runs;
  }

  static std::vector<std::string> names(const std::vector<SweepRun>& runs) {
    std::vector<std::string> all;
    for (const SweepRun& run : runs) all.push_back(run.name);
    return all;
  }
};

TEST_F(SweepPlan, PutsEachPointOverTheBaseAndCountsSeedsUp) {
  base_.run.seed = 7;
  const auto runs = plan(R"({"grid": {"model.width": [8, 16]}, "seeds": 2})");
  ASSERT_EQ(runs.size(), 4U);
  const std::vector<std::pair<int, int>> expected = {{8, 7}, {8, 8}, {16, 7}, {16, 8}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(runs[i].config.model.width, expected[i].first);
    EXPECT_EQ(runs[i].config.run.seed, expected[i].second);
    EXPECT_EQ(runs[i].config.train.batch, base_.train.batch);
  }
}

TEST_F(SweepPlan, EqualRunsStandOnceAtTheirFirstPlace) {
  const auto runs = plan(R"({"grid": {"model.width": [8, 16, 8.0]}, "list": [{"model.width": 16}, {"model.width": 32},
                             {"run.seed": 2, "model.width": 8}], "seeds": 2})");
  std::vector<std::pair<std::int64_t, std::int64_t>> got;
  for (const SweepRun& run : runs) got.emplace_back(run.config.model.width, run.config.run.seed);
  EXPECT_EQ(got, (std::vector<std::pair<std::int64_t, std::int64_t>>{
                     {8, 1}, {8, 2}, {16, 1}, {16, 2}, {32, 1}, {32, 2}, {8, 3}}));
}

TEST_F(SweepPlan, ContentIsTheConfigAndTheDataButNotWhereItLies) {
  const std::string before = plan("{}")[0].content;
  base_.data.path = dir_.write("moved.txt", text_);
  EXPECT_EQ(plan("{}")[0].content, before);
  base_.data.cache = "off";
  base_.sample.temperature = 0.5;
  base_.train.keep = 3;
  base_.run.stop_signals = "TERM";
  base_.run.pin = base_.run.tensorboard = true;
  EXPECT_EQ(plan("{}")[0].content, before) << "none of these changes a result";
  base_.train.batch += 1;
  EXPECT_NE(plan("{}")[0].content, before);
  base_.train.batch -= 1;
  base_.data.path = dir_.write("moved.txt", text_ + "x");
  EXPECT_NE(plan("{}")[0].content, before);
}

/// Else a newer program would repeat the runs of an older one's sweeps.
TEST_F(SweepPlan, ContentStaysWhenTheProgramGetsMoreKeys) {
  base_ = Config{};
  base_.data.path = dir_.write("kept.txt", std::string(5000, 'a') + std::string(5000, 'b'));
  base_.model.width = 48;
  EXPECT_EQ(plan("{}")[0].content, "e70ce9b03e03dd39324f2f7556166a1c");
}

TEST_F(SweepPlan, ARunFitsIntoTheMostMemoryThatItSaysItTakes) {
  const SweepRun small = plan("{}")[0];
  EXPECT_GT(small.most_memory(), 16.0 * static_cast<double>(small.parameters()));
  base_.train.batch *= 1000;
  base_.model.width *= 2;
  EXPECT_GT(plan("{}")[0].most_memory(), 1000 * small.most_memory());
}

TEST_F(SweepPlan, KnowsTheSizeOfARun) {
  base_.train.steps = 0;
  base_.train.epochs = 2;
  const SweepRun run = plan("{}")[0];
  const std::int64_t train = static_cast<std::int64_t>(text_.size()) * 9 / 10, T = base_.model.context;
  EXPECT_EQ(run.windows, train - T);
  EXPECT_EQ(run.steps(), (2 * (train - T) + base_.train.batch - 1) / base_.train.batch);
  EXPECT_EQ(run.vocabulary, static_cast<std::int64_t>(std::set<char>(text_.begin(), text_.end()).size()));
  EXPECT_EQ(run.characters(), static_cast<double>(run.steps() * base_.train.batch * T));
  const std::int64_t C = base_.model.width, V = run.vocabulary;
  const std::int64_t block = 3 * C * C + C * C + C + 8 * C * C + 5 * C + 4 * C;
  EXPECT_EQ(run.parameters(), (V + T) * C + base_.model.layers * block + 2 * C + C * V + V);
  EXPECT_GT(run.operations(), 6.0 * run.characters() * static_cast<double>(base_.model.layers * 12 * C * C));
  EXPECT_GT(run.disk_bytes(), 12 * run.parameters() * (base_.train.keep + 1));
}

TEST_F(SweepPlan, ABadRunIsFoundBeforeAnyIsThere) {
  const auto refused = [&](ExitCode code, const std::string& grid, std::initializer_list<std::string> parts) {
    SCOPED_TRACE(grid);
    expect_error(code, parts, [&] { plan(grid); });
  };
  refused(ExitCode::usage, R"({"grid": {"model.width": [8, 9]}})",
          {"g.json, point 2 (model.width=9)", "model.heads = 2", "8 or 10"});
  refused(ExitCode::bad_data, R"({"list": [{}, {"model.context": 10000}]})",
          {"g.json, point 2 (model.context=10000)", "10001"});
  refused(ExitCode::no_input, R"({"grid": {"data.path": ["missing.txt"]}})", {"point 1", "missing.txt"});
  refused(ExitCode::usage, R"({"grid": {"data.path": [""]}})", {"point 1", "no data to train on"});
  refused(ExitCode::usage, R"({"grid": {"data.path": ["-"]}})", {"point 1", "standard input"});
  refused(ExitCode::usage, R"({"list": [{}, {"schedule.warmup": 11}]})", {"point 2 (schedule.warmup=11)", "11"});
  base_.run.seed = (std::int64_t{1} << 53) - 1;
  refused(ExitCode::usage, R"({"seeds": 2})", {"point 1", "run.seed"});
}

TEST_F(SweepPlan, RunsThatReadTheDataAlikeShareIt) {
  const auto runs = plan(R"({"grid": {"data.val_fraction": [0.1, 0.2], "model.context": [8, 16],
                                      "data.windows": ["random", "shuffled"]}})");
  ASSERT_EQ(runs.size(), 8U);
  std::set<const Corpus*> different;
  for (const SweepRun& run : runs) {
    ASSERT_TRUE(run.corpus);
    const Corpus alone = load_corpus(run.config);
    EXPECT_EQ(run.corpus->train.ids(0, run.corpus->train.size()), alone.train.ids(0, alone.train.size()));
    EXPECT_EQ(run.corpus->fingerprint, alone.fingerprint);
    different.insert(run.corpus.get());
  }
  EXPECT_EQ(different.size(), 2U);  // one for each fraction
}

TEST_F(SweepPlan, NamesSayWhatVaries) {
  EXPECT_EQ(names(named("{}")), std::vector<std::string>{"run"});
  EXPECT_EQ(names(named(R"({"grid": {"optimizer.learning_rate": [1e-3, 0.02], "model.width": [8]}, "seeds": 2})")),
            (std::vector<std::string>{"learning_rate=0.001,seed=1", "learning_rate=0.001,seed=2",
                                      "learning_rate=0.02,seed=1", "learning_rate=0.02,seed=2"}));
  EXPECT_EQ(names(named(R"({"grid": {"optimizer.betas": [[0.9, 0.99], [0.5, 0.1]]}})")),
            (std::vector<std::string>{"betas=_0.9_0.99_", "betas=_0.5_0.1_"}));
}

TEST_F(SweepPlan, KeysOfOneLastPartKeepTheirSection) {
  EXPECT_EQ(names(named(R"({"list": [{"data.stride": 2, "eval.stride": 3}, {}]})")),
            (std::vector<std::string>{"data.stride=2,eval.stride=3", "data.stride=1,eval.stride=0"}));
}

TEST_F(SweepPlan, NamesAreSafeAndNoTwoAreOne) {
  const std::string first = dir_.write("a b", text_ + "1"), second = dir_.write("a_b", text_ + "2");
  const std::string third = dir_.write(std::string(200, 'c'), text_ + "3");
  const auto runs = named(R"({"grid": {"data.path": [")" + first + R"(", ")" + second + R"(", ")" + third + R"("]}})");
  std::set<std::string> different;
  for (const SweepRun& run : runs) {
    different.insert(run.name);
    EXPECT_LE(run.name.size(), 160U);
    EXPECT_EQ(run.name.find_first_of("/ "), std::string::npos) << run.name;
  }
  EXPECT_EQ(different.size(), 3U);
}

TEST_F(SweepPlan, ARunKeepsItsNameWhenMoreVaries) {
  const auto before = named(R"({"grid": {"model.width": [8, 16]}})");
  const auto after = named(R"({"grid": {"model.width": [8, 16], "model.layers": [1, 2]}})", before);
  EXPECT_EQ(names(after), (std::vector<std::string>{"width=8", "layers=2,width=8", "width=16", "layers=2,width=16"}));
  EXPECT_EQ(names(named(R"({"grid": {"model.width": [32]}})", before)), std::vector<std::string>{"width=32"});
}

}  // namespace
}  // namespace chargpt
