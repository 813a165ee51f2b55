#include "chargpt/base/parameter_layout.hpp"

#include <gtest/gtest.h>

#include "chargpt/base/model_size.hpp"

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
  const ParameterLayout layout(some_model(), 7);
  std::int64_t next = 0;
  for (const auto& entry : layout.entries()) {
    EXPECT_EQ(entry.offset, next) << entry.name;
    next += entry.count;
    EXPECT_EQ(entry.shape.size() == 2, next <= layout.matrix_size()) << entry.name;
  }
  EXPECT_EQ(next, layout.size());
}

TEST(ParameterLayout, HasAsManyElementsAsTheModelHasParameters) {
  EXPECT_EQ(ParameterLayout(some_model(), 7).size(), parameter_count(some_model(), 7));
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
