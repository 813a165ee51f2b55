#include "chargpt/app/config_command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace chargpt {
namespace {

LoadedConfig loaded(const std::vector<std::string>& settings) {
  ConfigSources sources;
  for (const std::string& setting : settings) sources.overrides.push_back(parse_override(setting));
  return load_config(sources);
}

TEST(ConfigCommand, ShowHasALineForEachKeyWithValueAndOrigin) {
  std::ostringstream out;
  EXPECT_EQ(config_show(loaded({"train.batch=5", "sample.prompt=a\nb"}), false, out), ExitCode::ok);
  const std::string text = "\n" + out.str();
  Config config;
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), 1 + describe(config).keys().size());
  for (const char* line : {"\ntrain.batch = 5   # --set\n", "\nsample.prompt = \"a\\nb\"   # --set\n",
                           "\nschedule.name = \"constant\"   # default\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST(ConfigCommand, ShowAsJsonIsAConfigThatGivesTheSameAgain) {
  std::ostringstream out;
  const LoadedConfig shown = loaded({"train.batch=5", "optimizer.betas=[0.1, 0.2]"});
  EXPECT_EQ(config_show(shown, true, out), ExitCode::ok);
  const Config read = config_from_json(parse_json(out.str(), {.source = "show"}), "show");
  EXPECT_EQ(to_json(read), to_json(shown.config));
}

TEST(ConfigCommand, CheckCountsWhatIsSet) {
  std::ostringstream out;
  EXPECT_EQ(config_check(loaded({"train.batch=5", "train.keep=5"}), false, out), ExitCode::ok);
  EXPECT_EQ(config_check(loaded({"train.batch=5"}), false, out), ExitCode::ok);
  EXPECT_EQ(config_check(loaded({}), true, out), ExitCode::ok);
  EXPECT_EQ(out.str(), "ok: 2 keys set\nok: 1 key set\n{\n  \"ok\": true,\n  \"set\": 0\n}\n");
}

TEST(ConfigCommand, CheckAppliesTheRulesAndPrintsNothingThen) {
  std::ostringstream out;
  EXPECT_THROW(config_check(loaded({"model.heads=3"}), false, out), Error);
  EXPECT_EQ(out.str(), "");
}

TEST(ConfigCommand, DiffNamesTheKeysThatDifferWithBothValues) {
  std::ostringstream text, json, none;
  const LoadedConfig left = loaded({"train.batch=5", "train.keep=3"});
  const LoadedConfig right = loaded({"train.keep=3", "schedule.name=cosine"});
  EXPECT_EQ(config_diff(left, right, false, text), ExitCode::ok);
  EXPECT_EQ(text.str(), "train.batch: 5 -> 32\nschedule.name: \"constant\" -> \"cosine\"\n");
  config_diff(left, right, true, json);
  EXPECT_EQ(Json::parse(json.str()).dump(), R"({"train.batch":[5,32],"schedule.name":["constant","cosine"]})");
  config_diff(left, left, false, none);
  EXPECT_EQ(none.str(), "");
}

TEST(ConfigCommand, SchemaIsTheSchema) {
  std::ostringstream out;
  EXPECT_EQ(config_print_schema(out), ExitCode::ok);
  EXPECT_EQ(Json::parse(out.str()), config_schema());
}

TEST(ConfigCommand, InitPrintsAWholeConfigThatIsValid) {
  std::ostringstream out;
  EXPECT_EQ(config_init(out), ExitCode::ok);
  const Config read = config_from_json(parse_json(out.str(), {.source = "init"}), "init");
  EXPECT_NO_THROW(check_rules(read));
  EXPECT_EQ(to_json(read), to_json(Config{}));
}

}  // namespace
}  // namespace chargpt
