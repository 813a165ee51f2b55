#include "chargpt/base/model_choice.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "chargpt/base/file.hpp"
#include "chargpt/base/run_folder.hpp"
#include "support/some_manifest.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

const Tokenizer kTokenizer({U'a', U'b'}, false);

/// A run folder with checkpoints that tell their step by their first weight, of their average by that and a half.
class ModelChoiceTest : public testing::Test {
 protected:
  void save(std::int64_t step, bool with_average = false) const {
    CheckpointWriter writer(paths_.checkpoints(), step);
    Manifest manifest = some_manifest(step);
    const auto first = static_cast<float>(step);
    manifest.files[kModelFileName] = write_model(writer.path(kModelFileName), first);
    if (with_average) manifest.files[kAverageFileName] = write_model(writer.path(kAverageFileName), first + 0.5F);
    writer.commit(manifest);
  }

  static WrittenFile write_model(const std::string& path, float first_value) {
    ModelConfig config;
    config.layers = config.heads = config.width = config.context = 1;
    std::vector<float> values(static_cast<std::size_t>(ParameterLayout(config, kTokenizer.size()).size()));
    values[0] = first_value;
    return write_model_file(path, config, kTokenizer, values);
  }

  std::string file(std::int64_t step, const char* name) const { return paths_.checkpoint(step) + "/" + name; }

  static float first_weight(const ModelChoice& choice) {
    const OpenedModel opened = open_model(choice);
    std::vector<float> values(static_cast<std::size_t>(opened.file.layout().size()));
    opened.file.copy_values(values);
    EXPECT_EQ(opened.chosen.step.value_or(static_cast<std::int64_t>(values[0])), static_cast<std::int64_t>(values[0]));
    return values[0];
  }

  TempDir dir_;
  RunPaths paths_{dir_.path()};
};

TEST_F(ModelChoiceTest, IsTheBestOrElseTheLast) {
  dir_.write("config.json", "{}");
  for (const std::int64_t step : {3, 7, 12}) save(step);
  EXPECT_EQ(first_weight({dir_.path(), "", ""}), 12);
  write_best(paths_.checkpoints(), 7);
  EXPECT_EQ(first_weight({dir_.path(), "", ""}), 7);
  EXPECT_EQ(first_weight({dir_.path(), "", "best"}), 7);
  EXPECT_EQ(first_weight({dir_.path(), "", "last"}), 12);
  EXPECT_EQ(first_weight({dir_.path(), "", "3"}), 3);
  EXPECT_EQ(first_weight({paths_.checkpoint(3), "", ""}), 3);
  EXPECT_EQ(first_weight({"", paths_.checkpoint(3) + "/model.safetensors", ""}), 3);
}

TEST_F(ModelChoiceTest, IsEveryCheckpointForAll) {
  dir_.write("config.json", "{}");
  for (const std::int64_t step : {12, 3, 7}) save(step);
  std::vector<std::int64_t> steps;
  for (const ChosenModel& chosen : every_checkpoint(dir_.path(), WeightsChoice::automatic))
    steps.push_back(*chosen.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{3, 7, 12}));
}

TEST_F(ModelChoiceTest, ThatIsNotThereIsRefused) {
  const auto refuse = [&](const std::string& checkpoint, ExitCode code, const std::string& part) {
    expect_error(code, {part}, [&] { open_model({dir_.path(), "", checkpoint}); });
  };
  refuse("", ExitCode::no_input, "no run folder");
  dir_.write("config.json", "{}");
  refuse("", ExitCode::no_input, "no checkpoint yet");
  for (const std::int64_t step : {3, 7}) save(step);
  refuse("5", ExitCode::no_input, "no checkpoint of step 5; it has 3, 7");
  refuse("best", ExitCode::no_input, "use --checkpoint last");
  refuse("newest", ExitCode::usage, "wanted best, last or the number of a step");
  write_best(paths_.checkpoints(), 5);
  for (const std::string which : {"", "best"}) {
    refuse(which, ExitCode::no_input, "no checkpoint of step 5, which is its best; it has 3, 7");
  }
}

TEST_F(ModelChoiceTest, ThatHasLostItsManifestIsRefusedAndASoundOneNamed) {
  dir_.write("config.json", "{}");
  for (const std::int64_t step : {3, 7}) save(step);
  fs::remove(file(7, "manifest.json"));
  for (const std::string which : {"", "last", "7"}) {
    expect_error(ExitCode::unusable_model, {file(7, "manifest.json"), "missing", "--checkpoint 3"}, [&] {
      open_model({dir_.path(), "", which});
    });
  }
}

TEST_F(ModelChoiceTest, OfAnotherStepInItsPlaceIsRefusedAndASoundOneNamed) {
  dir_.write("config.json", "{}");
  for (const std::int64_t step : {3, 7, 12}) save(step);
  write_best(paths_.checkpoints(), 12);
  const auto model = [&](std::int64_t step) { return file(step, kModelFileName); };
  write_file_atomically(model(12), read_file(model(3)));
  expect_error(ExitCode::unusable_model, {model(12), "the manifest says", "step 7 is sound: --checkpoint 7"}, [&] {
    open_model({dir_.path(), "", ""});
  });
  for (const std::int64_t step : {3, 7}) write_file_atomically(model(step), "");
  expect_error(ExitCode::unusable_model, {model(12), "no other checkpoint of this run is sound"}, [&] {
    open_model({dir_.path(), "", ""});
  });
}

TEST_F(ModelChoiceTest, TakesTheAverageOfTheWeightsWhereTheManifestNamesOne) {
  dir_.write("config.json", "{}");
  save(3);
  save(7, true);
  EXPECT_EQ(first_weight({dir_.path(), "", "7"}), 7.5F);
  EXPECT_EQ(first_weight({dir_.path(), "", "7", WeightsChoice::ema}), 7.5F);
  EXPECT_EQ(first_weight({dir_.path(), "", "7", WeightsChoice::raw}), 7.0F);
  fs::copy_file(file(7, kAverageFileName), file(3, kAverageFileName));  // a stranger there
  EXPECT_EQ(first_weight({dir_.path(), "", "3"}), 3.0F);
  expect_error(ExitCode::no_input, {"holds no average"}, [&] {
    open_model({dir_.path(), "", "3", WeightsChoice::ema});
  });
}

TEST_F(ModelChoiceTest, AnAverageThatIsNotTheManifestsIsRefusedInEveryWay) {
  dir_.write("config.json", "{}");
  for (const std::int64_t step : {3, 7}) save(step, true);
  const std::string average = file(7, kAverageFileName);
  const auto expect_refused = [&](const std::string& reason) {
    for (const ModelChoice& choice : {ModelChoice{dir_.path(), "", "7"}, ModelChoice{paths_.checkpoint(7), "", ""},
                                      ModelChoice{dir_.path(), "", "7", WeightsChoice::ema}}) {
      expect_error(ExitCode::unusable_model, {average, reason}, [&] { open_model(choice); });
    }
    const ChosenModel chosen = every_checkpoint(dir_.path(), WeightsChoice::automatic)[1];
    expect_error(ExitCode::unusable_model, {average, reason}, [&] { read_model(chosen); });
  };
  write_file_atomically(average, read_file(file(3, kAverageFileName)));
  expect_refused("the manifest says");
  write_file_atomically(average, read_file(file(7, kModelFileName)));
  expect_refused("the manifest says");
  fs::remove(average);
  expect_refused("it is missing");
}

}  // namespace
}  // namespace chargpt
