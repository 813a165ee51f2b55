#include "chargpt/base/config_loader.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

std::string refusal(const ConfigSources& sources, ExitCode code = ExitCode::usage) {
  try {
    load_config(sources);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

ConfigSources from_file(const std::string& path) { return {{}, "", path, {}, {}}; }
ConfigSources from_variable(const std::string& name, const std::string& value) {
  return {{}, "", "", {{name, value}}, {}};
}
ConfigSources from_override(const std::string& text) { return {{}, "", "", {}, {parse_override(text)}}; }

/// The message with which a file of this text is refused, its folder left out.
std::string file_refusal(const std::string& text) {
  const TempDir dir;
  std::string message = refusal(from_file(dir.write("a.json", text)));
  const std::string folder = dir.path() + "/";
  for (auto at = message.find(folder); at != std::string::npos; at = message.find(folder))
    message.erase(at, folder.size());
  return message;
}

/// A value of the key that is not its present one.
Json other_value(const ConfigKey& key) {
  const Json now = key.get();
  if (const auto* choice = std::get_if<Choice>(&key.value)) return std::string(choice->names.back());
  if (now.is_boolean()) return !now.get<bool>();
  if (std::holds_alternative<Interval*>(key.value)) return "7 epochs";
  if (std::holds_alternative<PartOfRun*>(key.value)) return "7.25 %";
  if (std::holds_alternative<AutoInteger*>(key.value)) return "auto";
  if (now.is_string()) return "it's \"" + now.get<std::string>() + "\"\n\u8a9e";
  if (std::holds_alternative<std::vector<std::string>*>(key.value)) return Json::array({"a,b", "\n"});
  if (now.is_array()) return Json::array({0.123456789012345678, 1.0 / 3});
  if (now.is_number_float()) return now.get<double>() * 0.7 + 0.1 / 3;
  return now.get<std::int64_t>() + 1;
}

TEST(ConfigLoader, EveryKeySurvivesTheRoundTripThroughJsonText) {
  Config config;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) {
    const Json value = other_value(key);
    ASSERT_NE(key.get(), value) << key.name;
    key.set(value, "test");
    EXPECT_EQ(key.get(), value) << key.name;
  }
  const Json written = to_json(config);
  Config read = config_from_json(parse_json(written.dump(2), {.source = "text"}), "text");
  const KeyList read_keys = describe(read);
  for (const ConfigKey& key : keys.keys()) EXPECT_EQ(read_keys.find(key.name)->get(), key.get()) << key.name;
  EXPECT_EQ(to_json(read).dump(), written.dump());
}

TEST(ConfigLoader, EveryKeyCanBeSetByOverrideAndByVariable) {
  Config defaults;
  const KeyList keys = describe(defaults);
  for (const ConfigKey& key : keys.keys()) {
    const Json value = other_value(key);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    std::string variable = "CHARGPT_" + key.name;
    for (char& c : variable) c = c == '.' ? '_' : static_cast<char>(std::toupper(c));
    for (const ConfigSources& sources : {from_override(key.name + "=" + text), from_variable(variable, text)}) {
      LoadedConfig loaded = load_config(sources);
      const KeyList loaded_keys = describe(loaded.config);
      EXPECT_EQ(loaded_keys.find(key.name)->get(), value) << key.name;
      EXPECT_EQ(loaded.origin.at(key.name), sources.overrides.empty() ? variable : "--set");
    }
  }
}

TEST(ConfigLoader, NothingGivenIsTheDefaults) {
  const LoadedConfig loaded = load_config({});
  EXPECT_EQ(to_json(loaded.config), to_json(Config{}));
  Config config;
  EXPECT_EQ(loaded.origin.size(), describe(config).keys().size());
  for (const auto& [key, origin] : loaded.origin) EXPECT_EQ(origin, "default") << key;
}

TEST(ConfigLoader, TheStrongerSourceWinsAndIsNamed) {
  const TempDir dir;
  const std::string file = dir.write("a.json", R"({"train": {"batch": 3, "steps": 3, "keep": 3}})");
  ConfigSources sources;
  sources.base = Json::parse(R"({"train": {"batch": 2, "steps": 2, "keep": 2, "eval_every": 2}})");
  sources.base_name = "runs/s1";
  sources.file = file;
  sources.environment = {{"HOME", "/"}, {"CHARGPT_TRAIN_BATCH", "4"}, {"CHARGPT_TRAIN_STEPS", "4"}};
  sources.overrides = {parse_override("train.batch=5")};
  const LoadedConfig loaded = load_config(sources);
  const TrainConfig& train = loaded.config.train;
  EXPECT_EQ(train.batch, 5);
  EXPECT_EQ(loaded.origin.at("train.batch"), "--set");
  EXPECT_EQ(train.steps, 4);
  EXPECT_EQ(loaded.origin.at("train.steps"), "CHARGPT_TRAIN_STEPS");
  EXPECT_EQ(train.keep, 3);
  EXPECT_EQ(loaded.origin.at("train.keep"), file);
  EXPECT_EQ(train.eval_every, 2);
  EXPECT_EQ(loaded.origin.at("train.eval_every"), "runs/s1");
  EXPECT_EQ(train.log_every, TrainConfig{}.log_every);
  EXPECT_EQ(loaded.origin.at("train.log_every"), "default");
}

TEST(ConfigLoader, TheLastOverrideWins) {
  ConfigSources sources;
  sources.overrides = {parse_override("train.batch=5"), parse_override("train.batch=6")};
  EXPECT_EQ(load_config(sources).config.train.batch, 6);
}

TEST(ConfigLoader, OverridesAreReadByTheTypeOfTheirKey) {
  EXPECT_EQ(load_config(from_override("train.steps=1e3")).config.train.steps, 1000);
  EXPECT_EQ(load_config(from_override("train.steps=7.0")).config.train.steps, 7);
  EXPECT_EQ(load_config(from_override("sample.prompt=12")).config.sample.prompt, "12");
  EXPECT_EQ(load_config(from_override("sample.prompt=")).config.sample.prompt, "");
  EXPECT_EQ(load_config(from_override("sample.prompt= a=b \"c\"")).config.sample.prompt, " a=b \"c\"");
  EXPECT_EQ(load_config(from_override("optimizer.betas=[0.8, 0.9]")).config.optimizer.betas, (std::vector{0.8, 0.9}));
  EXPECT_EQ(load_config(from_override("schedule.name=cosine")).config.schedule.name, ScheduleName::cosine);
}

TEST(ConfigLoader, RefusesOverridesThatAreNoValueOfTheKey) {
  expect_parts(refusal(from_override("train.batch=1.5")), {"--set: train.batch: got 1.5, wanted an integer"});
  expect_parts(refusal(from_override("train.batch=")), {"got \"\" (text), wanted an integer, 1 to 1048576"});
  expect_parts(refusal(from_override("train.batch=\"5\"")), {"got \"5\" (text), wanted an integer"});
  expect_parts(refusal(from_override("run.seed=-1")), {"run.seed: got -1, wanted an integer, 0 to"});
  expect_parts(refusal(from_override("run.seed=9007199254740993")), {"run.seed: got 9007199254740993, wanted"});
  expect_parts(refusal(from_override("sample.temperature=-0.5")), {"got -0.5, wanted a number, 0 or more"});
  for (const char* text : {"NaN", "nan", "inf", "Infinity", "1e999", "0x10", "1,5", "1 2"}) {
    expect_parts(refusal(from_override(std::string("optimizer.clip=") + text)),
                 {"--set: optimizer.clip: got \"" + std::string(text) + "\" (text), wanted a number, 0 or more"});
  }
  expect_parts(refusal(from_override("schedule.name=cosin")),
               {"wanted constant | linear | cosine | step | inverse_sqrt | wsd; did you mean \"cosine\"?"});
  expect_parts(refusal(from_override("data.path=\xff")), {"--set data.path", "UTF-8"});
  expect_parts(refusal(from_override("optimizer.betas=" + std::string(100000, '['))), {"wanted a list of numbers"});
}

TEST(ConfigLoader, AnOverrideIsCutAtItsFirstEqualsSign) {
  const Override override = parse_override("sample.prompt=a=b");
  EXPECT_EQ(override.key, "sample.prompt");
  EXPECT_EQ(override.value, "a=b");
  EXPECT_EQ(override.flag, "--set");
  try {
    parse_override("train.batch");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    expect_parts(error.what(), {"--set", "\"train.batch\"", "section.key=value"});
  }
}

TEST(ConfigLoader, AnOverrideIsNamedByItsFlag) {
  ConfigSources sources;
  sources.overrides = {{"run.seed", "-1", "--seed"}};
  expect_parts(refusal(sources), {"--seed: run.seed: got -1"});
  sources.overrides = {{"run.seed", "3", "--seed"}};
  EXPECT_EQ(load_config(sources).origin.at("run.seed"), "--seed");
}

TEST(ConfigLoader, AFileMayHaveASchemaAndIncludes) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "sub");
  dir.write("root.json", R"({"model": {"layers": 1, "heads": 1, "width": 1}})");
  const std::string sub =
      dir.write("sub/a.json", R"({"model": {"heads": 2, "width": 2}, "include": "../root.json", "$schema": "x"})");
  const std::string other = dir.write("other.json", R"({"model": {"context": 9}, "train": {"batch": 9}})");
  const std::string top = dir.write(
      "top.json", R"({"model": {"width": 3}, "include": ["sub/a.json", "other.json"], "train": {"batch": 8}})");
  const LoadedConfig loaded = load_config(from_file(top));
  EXPECT_EQ(loaded.config.model.layers, 1);
  EXPECT_EQ(loaded.config.model.heads, 2);
  EXPECT_EQ(loaded.config.model.width, 3);
  EXPECT_EQ(loaded.config.model.context, 9);
  EXPECT_EQ(loaded.config.train.batch, 8);
  EXPECT_EQ(loaded.origin.at("model.layers"), dir / "root.json");
  EXPECT_EQ(loaded.origin.at("model.heads"), sub);
  EXPECT_EQ(loaded.origin.at("model.context"), other);
  EXPECT_EQ(loaded.origin.at("model.width"), top);
}

TEST(ConfigLoader, TheSameFileMayBeIncludedByTwo) {
  const TempDir dir;
  dir.write("base.json", R"({"train": {"batch": 9}})");
  dir.write("a.json", R"({"include": "base.json"})");
  dir.write("b.json", R"({"include": "base.json"})");
  EXPECT_EQ(load_config(from_file(dir.write("top.json", R"({"include": ["a.json", "b.json"]})"))).config.train.batch,
            9);
}

TEST(ConfigLoader, RefusesACycleOfIncludes) {
  const TempDir dir;
  dir.write("a.json", R"({"include": "b.json"})");
  dir.write("b.json", R"({"include": "./sub/../a.json"})");
  std::filesystem::create_directory(dir / "sub");
  expect_parts(refusal(from_file(dir / "a.json")), {"a.json -> ", "b.json -> ", "includes itself"});
  expect_parts(refusal(from_file(dir.write("self.json", R"({"include": "self.json"})"))), {"includes itself"});
}

TEST(ConfigLoader, IncludesGoSixteenFilesDeepAndNoFurther) {
  const TempDir dir;
  for (int i = 0; i < 17; ++i) {
    dir.write(std::to_string(i) + ".json", R"({"include": ")" + std::to_string(i + 1) + R"(.json"})");
  }
  dir.write("17.json", R"({"train": {"batch": 9}})");
  EXPECT_EQ(load_config(from_file(dir / "1.json")).config.train.batch, 9);
  expect_parts(refusal(from_file(dir / "0.json")), {"16 files"});
}

TEST(ConfigLoader, IncludesThatMultiplyEnd) {
  const TempDir dir;
  for (int i = 0; i < 15; ++i) {
    const std::string next = "\"" + std::to_string(i + 1) + ".json\"";
    dir.write(std::to_string(i) + ".json", "{\"include\": [" + next + ", " + next + ", " + next + ", " + next + "]}");
  }
  dir.write("15.json", "{}");
  expect_parts(refusal(from_file(dir / "0.json")), {"names more than 64 files"});
}

TEST(ConfigLoader, AMissingFileIsNoInputAndNamesWhoIncludesIt) {
  const TempDir dir;
  expect_parts(refusal(from_file(dir / "none.json"), ExitCode::no_input), {dir / "none.json"});
  const std::string top = dir.write("top.json", R"({"include": "none.json"})");
  expect_parts(refusal(from_file(top), ExitCode::no_input), {dir / "none.json", "(included by " + top + ")"});
}

TEST(ConfigLoader, RefusesAFileThatIsNotStrictJsonAtItsPlace) {
  expect_parts(file_refusal("{\"train\": {\"batch\": 1,\n \"batch\": 2}}"), {"a.json, line 2, column ", "\"batch\""});
  expect_parts(file_refusal("{\"train\": {\"batch\": 1,}}"), {"a.json, line 1, column 23: "});
  expect_parts(file_refusal("{\"train\": {\"batch\": NaN}}"), {"a.json, line 1, column "});
  expect_parts(file_refusal(std::string(100000, '[')), {"a.json, line 1, column ", "nested deeper"});
  expect_parts(file_refusal(""), {"a.json, line 1, column 1: "});
}

TEST(ConfigLoader, RefusesAWrongValueWithFileAndKey) {
  EXPECT_EQ(file_refusal(R"({"train": {"batch": "12"}})"),
            "a.json: train.batch: got \"12\" (text), wanted an integer, 1 to 1048576");
  expect_parts(file_refusal(R"({"train": {"keep": 0}})"), {"a.json: train.keep: got 0, wanted an integer, 1 to"});
  expect_parts(file_refusal(R"({"model": {"dropout": 1}})"),
               {"model.dropout: got 1, wanted a number, 0 or more, below 1"});
  expect_parts(file_refusal(R"({"optimizer": {"betas": [0.9, 1.0]}})"), {"optimizer.betas: got [0.9,1.0] (a list)"});
  expect_parts(file_refusal(R"({"model": {"attention": "fusd"}})"), {"model.attention", "did you mean \"fused\"?"});
  expect_parts(file_refusal("[]"), {"a.json: got array, wanted an object"});
  expect_parts(file_refusal(R"({"train": 3})"), {"a.json: train: got number, wanted an object"});
  expect_parts(file_refusal(R"({"$schema": 3})"), {"a.json: $schema: wanted a text"});
  expect_parts(file_refusal(R"({"include": 3})"), {"a.json: include: wanted a path"});
  expect_parts(file_refusal(R"({"include": ["a", 3]})"), {"a.json: include: wanted a path"});
}

TEST(ConfigLoader, NamesTheKeyThatWasMeantInAFile) {
  EXPECT_EQ(file_refusal(R"({"optimizer": {"learning_rat": 1}})"),
            "a.json: unknown key \"optimizer.learning_rat\"; did you mean \"optimizer.learning_rate\"?");
  expect_parts(file_refusal(R"({"optimizer": {"learning-rate": 1}})"), {"did you mean \"optimizer.learning_rate\"?"});
  expect_parts(file_refusal(R"({"learning_rat": 1})"),
               {"\"learning_rat\"", "did you mean \"optimizer.learning_rate\"?"});
  expect_parts(file_refusal(R"({"batch": 1})"), {"unknown key \"batch\"; did you mean \"train.batch\"?"});
  expect_parts(file_refusal(R"({"model": {"batch": 1}})"),
               {"unknown key \"model.batch\"; did you mean \"train.batch\"?"});
  expect_parts(file_refusal(R"({"eval": {"bacth": 1}})"), {"did you mean \"eval.batch\"?"});
  expect_parts(file_refusal(R"({"sample": {"sed": 1}})"), {"did you mean \"sample.seed\"?"});
  expect_parts(file_refusal(R"({"modle": {"width": 1}})"), {"unknown section \"modle\"; did you mean \"model\"?"});
  expect_parts(file_refusal(R"({"zebra": {"width": 1}})"), {"unknown section \"zebra\"", "data, model, train"});
  expect_parts(file_refusal(R"({"model": {"zebra": 1}})"), {"the keys of model are layers, heads, width"});
  expect_parts(file_refusal(R"({"zebra": 1})"), {"unknown key \"zebra\"; the sections are data, model"});
  expect_parts(file_refusal(R"({"train.batch": 1})"), {"write {\"train\": {\"batch\": ...}}"});
}

TEST(ConfigLoader, NamesTheKeyThatWasMeantInAnOverride) {
  EXPECT_EQ(refusal(from_override("optimizer.learning_rat=1")),
            "--set: unknown key \"optimizer.learning_rat\"; did you mean \"optimizer.learning_rate\"?");
  expect_parts(refusal(from_override("optimizer.learning-rate=1")), {"did you mean \"optimizer.learning_rate\"?"});
  expect_parts(refusal(from_override("batch=1")), {"did you mean \"train.batch\"?"});
  expect_parts(refusal(from_override("model.batch=1")), {"did you mean \"train.batch\"?"});
  expect_parts(refusal(from_override("optimiser.decay=all")), {"did you mean \"optimizer.decay\"?"});
  expect_parts(refusal(from_override("evl.batch=1")), {"did you mean \"eval.batch\"?"});
  expect_parts(refusal(from_override("=1")), {"unknown key \"\"; the sections are"});
}

TEST(ConfigLoader, NamesTheVariableThatWasMeant) {
  EXPECT_EQ(
      refusal(from_variable("CHARGPT_OPTIMIZER_LEARNING_RAT", "1")),
      "CHARGPT_OPTIMIZER_LEARNING_RAT: unknown environment variable; did you mean CHARGPT_OPTIMIZER_LEARNING_RATE?");
  expect_parts(refusal(from_variable("CHARGPT_BATCH", "1")), {"did you mean CHARGPT_TRAIN_BATCH?"});
  expect_parts(refusal(from_variable("CHARGPT_MODEL_BATCH", "1")), {"did you mean CHARGPT_TRAIN_BATCH?"});
  expect_parts(refusal(from_variable("CHARGPT_TRIAN_BATCH", "1")), {"did you mean CHARGPT_TRAIN_BATCH?"});
  expect_parts(refusal(from_variable("CHARGPT_FOO", "1")), {"CHARGPT_FOO: unknown environment variable; unset it"});
  expect_parts(refusal(from_variable("CHARGPT_HOME", "/")), {"CHARGPT_HOME: unknown environment variable"});
  expect_parts(refusal(from_variable("CHARGPT_", "1")), {"CHARGPT_: unknown environment variable"});
  expect_parts(refusal(from_variable("CHARGPT_TRAIN_BATCH", "x")),
               {"CHARGPT_TRAIN_BATCH: train.batch: got \"x\" (text)"});
  EXPECT_NO_THROW(load_config(from_variable("CHARGPTX", "1")));
}

TEST(ConfigLoader, AStoredConfigIsReadAsStrictlyAsAFile) {
  const auto message = [](const char* text) -> std::string {
    try {
      config_from_json(Json::parse(text), "runs/s1/config.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "accepted";
  };
  expect_parts(message(R"({"model": {"widht": 1}})"), {"runs/s1/config.json: ", "did you mean \"model.width\"?"});
  expect_parts(message(R"({"model": {"width": 0}})"), {"runs/s1/config.json: model.width: got 0"});
  expect_parts(message(R"({"include": "x.json"})"), {"unknown key \"include\""});
  expect_parts(message("null"), {"got null, wanted an object"});
}

}  // namespace
}  // namespace chargpt
