#include "chargpt/base/parameter_layout.hpp"

#include <gtest/gtest.h>

#include <set>

#include "chargpt/base/model_size.hpp"
#include "support/model_switches.hpp"

namespace chargpt {
namespace {

ModelConfig some_model() {
  ModelConfig config;
  config.layers = 3;
  config.heads = 2;
  config.width = 8;
  config.context = 5;
  return config;
}

TEST(ParameterLayout, CoversTheBufferWithoutHolesMatricesFirst) {
  for (const ModelSwitches& switches : kModelSwitches) {
    SCOPED_TRACE(switches.name);
    ModelConfig config = some_model();
    switches.turn(config);
    const ParameterLayout layout(config, 7);
    std::int64_t next = 0;
    for (const auto& entry : layout.entries()) {
      EXPECT_EQ(entry.offset, next) << entry.name;
      next += entry.count;
      EXPECT_EQ(entry.shape.size() == 2, next <= layout.matrix_size()) << entry.name;
    }
    EXPECT_EQ(next, layout.size());
    EXPECT_EQ(next, parameter_count(config, 7));
  }
}

std::set<std::string> names(const ModelConfig& config) {
  std::set<std::string> all;
  const ParameterLayout layout(config, 7);
  for (const auto& entry : layout.entries()) all.insert(entry.name);
  return all;
}

TEST(ParameterLayout, WithoutBiasesLacksTheBiasesAndNothingElse) {
  std::set<std::string> wanted = names(some_model());
  std::erase_if(wanted, [](const std::string& name) { return name.ends_with(".bias"); });
  ModelConfig config = some_model();
  config.bias = false;
  EXPECT_EQ(names(config), wanted);
}

TEST(ParameterLayout, WithATiedHeadLacksTheHeadsMatrixWhoseNameTheEmbeddingHasToo) {
  std::set<std::string> wanted = names(some_model());
  wanted.erase("lm.weight");
  ModelConfig config = some_model();
  config.tied_head = true;
  EXPECT_EQ(names(config), wanted);
  const ParameterLayout layout(config, 7);
  for (const auto& entry : layout.entries()) {
    EXPECT_EQ(entry.alias, entry.name == "token_emb.weight" ? "lm.weight" : "") << entry.name;
  }
}

TEST(ParameterLayout, QueriesKeysAndValuesOfABlockAreOneMatrix) {
  const ParameterLayout layout(some_model(), 7);
  std::int64_t next = layout.offset("blocks.1.mha.heads.0.query.weight");
  for (const char* part : {"query", "key", "value"}) {
    for (const char* head : {"0", "1"}) {
      EXPECT_EQ(layout.offset(std::string("blocks.1.mha.heads.") + head + "." + part + ".weight"), next);
      next += 4 * 8;
    }
  }
}

TEST(ParameterLayout, DoesNotKnowAForeignName) {
  EXPECT_THROW(ParameterLayout(some_model(), 7).offset("blocks.3.l1.weight"), std::logic_error);
}

}  // namespace
}  // namespace chargpt
