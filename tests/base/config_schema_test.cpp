#include <gtest/gtest.h>

#include <cstdlib>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/file.hpp"

namespace chargpt {
namespace {

TEST(ConfigSchema, HasEveryKeyWithTypeDefaultAndHelp) {
  const Json schema = config_schema();
  const std::map<std::string, std::string> types = {{"integer", "integer"},
                                                    {"number", "number"},
                                                    {"text", "string"},
                                                    {"numbers", "array"},
                                                    {"truth value", "boolean"}};
  Config config;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) {
    const Json& section = schema.at("properties").at(std::string(key.section()));
    const Json& row = section.at("properties").at(std::string(key.leaf()));
    const auto type = types.find(key.type());
    if (row.contains("anyOf")) {  // a number or a text of its own
      EXPECT_TRUE(type == types.end());
      EXPECT_EQ(row.at("anyOf").size(), 2U) << key.name;
    } else if (std::holds_alternative<std::vector<std::string>*>(key.value)) {
      EXPECT_EQ(row.at("type"), (Json{"string", "array"})) << key.name;
    } else {
      EXPECT_EQ(row.at("type"), type == types.end() ? "string" : type->second) << key.name;
      EXPECT_EQ(row.contains("enum"), type == types.end()) << key.name;
    }
    EXPECT_EQ(row.at("default"), key.get()) << key.name;
    EXPECT_EQ(row.at("description"), key.help) << key.name;
  }
}

TEST(ConfigSchema, HasNoKeyThatTheConfigLacksAndAdmitsNone) {
  Config config;
  const KeyList keys = describe(config);
  const Json schema = config_schema();
  EXPECT_EQ(schema.at("additionalProperties"), false);
  std::size_t rows = 0;
  for (const auto& [section, value] : schema.at("properties").items()) {
    if (section == "$schema" || section == "include") continue;
    EXPECT_EQ(value.at("additionalProperties"), false) << section;
    rows += value.at("properties").size();
  }
  EXPECT_EQ(rows, keys.keys().size());
}

TEST(ConfigSchema, SaysRangesAndNames) {
  const Json sections = config_schema().at("properties");
  const auto row = [&](const char* section, const char* key) { return sections.at(section).at("properties").at(key); };
  EXPECT_EQ(row("train", "keep").at("minimum"), 1);
  EXPECT_EQ(row("optimizer", "learning_rate").at("exclusiveMinimum"), 0);
  EXPECT_FALSE(row("optimizer", "learning_rate").contains("maximum"));
  EXPECT_EQ(row("optimizer", "betas").at("items").at("exclusiveMaximum"), 1);
  EXPECT_EQ(row("schedule", "name").at("enum"),
            Json::array({"constant", "linear", "cosine", "step", "inverse_sqrt", "wsd"}));
}

// With UPDATE_README=1 in the environment the table is written instead of compared.
TEST(ConfigSchema, TheTableInTheReadmeIsCurrent) {
  const std::string path = CHARGPT_SOURCE_DIR "/README.md";
  std::string readme = read_file(path);
  const std::string begin = "<!-- config keys: begin -->\n";
  const auto from = readme.find(begin) + begin.size();
  const auto to = readme.find("<!-- config keys: end -->");
  ASSERT_TRUE(from >= begin.size() && to != std::string::npos && from <= to)
      << "README.md lacks the marks of the table";
  if (std::getenv("UPDATE_README") != nullptr) {
    write_file_atomically(path, readme.replace(from, to - from, config_markdown()));
    return;
  }
  EXPECT_TRUE(readme.substr(from, to - from) == config_markdown())
      << "the table of config keys is old; to renew it, in the build folder: UPDATE_README=1 ctest -R "
         "TheTableInTheReadme";
}

}  // namespace
}  // namespace chargpt
