#include "chargpt/base/sweep_folder.hpp"

#include <filesystem>
#include <thread>

#include "base/sweep_support.hpp"
#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/file.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

class SweepFolder : public SweepTest {
 protected:
  SweepPaths paths_{dir_ / "sweep"};
};

TEST_F(SweepFolder, APlanComesBackAsItWas) {
  auto runs = plan(R"({"grid": {"model.width": [8, 16]}})");
  note_plan(paths_, runs);
  const auto read = read_plan(paths_);
  ASSERT_EQ(read.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].name, runs[i].name);
    EXPECT_EQ(read[i].content, runs[i].content);
    EXPECT_EQ(read[i].vocabulary, runs[i].vocabulary);
    EXPECT_EQ(read[i].windows, runs[i].windows);
    EXPECT_EQ(to_json(read[i].config), to_json(runs[i].config));
  }
}

TEST_F(SweepFolder, AnotherPlanKeepsWhatWasThere) {
  auto first = plan(R"({"grid": {"model.width": [8, 16]}})");
  note_plan(paths_, first);
  auto second = plan(R"({"grid": {"model.width": [16, 32]}})");
  note_plan(paths_, second);
  std::vector<std::string> names;
  for (const SweepRun& run : read_plan(paths_)) names.push_back(run.name);
  EXPECT_EQ(names, (std::vector<std::string>{"width=16", "width=32", "width=8"}));
}

TEST_F(SweepFolder, DataThatHasMovedIsNothingThatVaries) {
  auto first = plan(R"({"grid": {"model.width": [8, 16]}})");
  note_plan(paths_, first);
  base_.data.path = dir_.write("moved.txt", text_);
  auto second = plan(R"({"grid": {"model.width": [8, 32]}})");
  note_plan(paths_, second);
  EXPECT_EQ(second[1].name, "width=32");
  const auto all = read_plan(paths_);
  EXPECT_EQ(varied_keys(all), std::vector<std::string>{"model.width"});
  EXPECT_EQ(all.back().config.data.path, base_.data.path);
}

TEST_F(SweepFolder, WhatIsBegunAgainHasNoOutcomeAnyMore) {
  auto runs = plan("{}");
  note_plan(paths_, runs);
  write_outcome(paths_, runs[0], {runs[0].content, 74, {"error"}});
  remove_outcome(paths_, runs[0]);
  remove_outcome(paths_, runs[0]);
  EXPECT_FALSE(read_outcome(paths_, runs[0]));
}

TEST_F(SweepFolder, PlansAtTheSameTimeLoseNothing) {
  std::vector<std::thread> threads;
  for (int width = 2; width <= 20; width += 2) {
    threads.emplace_back([this, width] {
      auto runs = plan(R"({"grid": {"model.width": [)" + std::to_string(width) + "]}}");
      note_plan(paths_, runs);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read_plan(paths_).size(), 10U);
}

TEST_F(SweepFolder, ADamagedPlanIsRefused) {
  expect_error(ExitCode::no_input, {"sweep", "no sweep.json"}, [&] { read_plan(paths_); });
  auto runs = plan("{}");
  note_plan(paths_, runs);
  const std::string sound = read_file(paths_.plan());
  const auto refused = [&](const std::string& text, const std::string& part) {
    dir_.write("sweep/sweep.json", text);
    expect_error(ExitCode::unusable_model, {"sweep.json", part}, [&] { read_plan(paths_); });
    expect_error(ExitCode::unusable_model, {"sweep.json", part}, [&] { note_plan(paths_, runs); });
  };
  refused("", "line 1");
  refused(sound.substr(0, sound.size() / 2), "line");
  refused("[]", "not the plan of a sweep");
  refused(R"({"version": 2, "runs": []})", "version 2");
  std::string other = sound;
  refused(other.replace(other.find("\"run\""), 5, "\"../x\""), "no name of a run");
}

TEST_F(SweepFolder, OutcomesBelongToTheirContent) {
  auto runs = plan(R"({"grid": {"model.width": [8, 16]}})");
  note_plan(paths_, runs);
  EXPECT_FALSE(read_outcome(paths_, runs[0]));
  write_outcome(paths_, runs[0], {runs[0].content, 76, {"error: loss is nan", "\xff"}});
  const auto outcome = read_outcome(paths_, runs[0]);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 76);
  EXPECT_EQ(outcome->lines[0], "error: loss is nan");
  EXPECT_FALSE(read_outcome(paths_, runs[1]));
  SweepRun other = runs[0];
  other.content = runs[1].content;
  EXPECT_FALSE(read_outcome(paths_, other));
  dir_.write("sweep/outcomes/width=8.json", "{");
  EXPECT_FALSE(read_outcome(paths_, runs[0]));
}

TEST_F(SweepFolder, WhatFinishedOrDivergedHasEndedWhileItsFolderIsThere) {
  auto runs = plan(R"({"grid": {"model.width": [8, 16, 32]}})");
  note_plan(paths_, runs);
  const int codes[] = {0, 76, 77};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(has_ended(paths_, runs[i]));
    std::filesystem::create_directories(paths_.run(runs[i]));
    dir_.write("sweep/" + runs[i].name + "/config.json", "{}");
    EXPECT_FALSE(has_ended(paths_, runs[i]));
    write_outcome(paths_, runs[i], {runs[i].content, codes[i], {}});
    EXPECT_EQ(has_ended(paths_, runs[i]), codes[i] != 77);
  }
  std::filesystem::remove_all(paths_.run(runs[0]));
  EXPECT_FALSE(has_ended(paths_, runs[0]));
}

}  // namespace
}  // namespace chargpt
