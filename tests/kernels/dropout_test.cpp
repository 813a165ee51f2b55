#include "chargpt/kernels/dropout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "kernels/support.hpp"

namespace chargpt {
namespace {

/// The definition in the header, element by element, by the plain generator.
float multiplier(const DropoutMask& mask, std::uint32_t row, std::uint32_t column) {
  const std::uint32_t lane = column % 8, group = column / 64, half = column % 64 / 8;
  const auto words =
      philox({8 * group + lane, row, mask.step, static_cast<std::uint32_t>(Purpose::dropout) | mask.site << 8U},
             philox_key(mask.seed));
  const std::uint32_t bits = words[half / 2] >> (half % 2 * 16) & 0xFFFFU;
  return bits < mask.threshold() ? 0.0F : mask.scale();
}

TEST(Dropout, MasksFollowTheirDefinitionOnEveryTarget) {
  on_every_target([] {
    for (const std::size_t columns : {1, 7, 8, 63, 64, 65, 128, 200}) {
      const DropoutMask mask{0.4, 0x123456789ABCDEFULL, 77, 35};
      std::vector<float> got(columns);
      dropout_multipliers(mask, 4000000000U, columns, got.data());
      for (std::size_t c = 0; c < columns; ++c) {
        ASSERT_EQ(got[c], multiplier(mask, 4000000000U, static_cast<std::uint32_t>(c)))
            << "column " << c << " of " << columns;
      }
    }
  });
}

TEST(Dropout, EachPlaceOfEachLayerAndTheEmbeddingsHaveASiteOfTheirOwn) {
  const DropoutState state{0.4, 1, 2, 3};
  std::set<std::uint32_t> sites = {state.embedding_mask().site};
  for (std::int64_t layer = 0; layer < 1024; ++layer) {
    for (const auto place : {DropoutPlace::attention_weights, DropoutPlace::projection, DropoutPlace::feed_forward}) {
      EXPECT_TRUE(sites.insert(state.mask(layer, place).site).second) << "layer " << layer;
    }
  }
  EXPECT_LT(*sites.rbegin(), 1U << 24U);
}

TEST(Dropout, KeepBitsAreTheColumnsThatAreNotDropped) {
  on_every_target([] {
    const DropoutMask mask{0.4, 12046, 5, 2};
    for (const std::size_t columns : {1, 33, 64, 130}) {
      std::vector<std::uint32_t> words(keep_words(columns));
      std::vector<float> factor(columns);
      draw_keep_bits(mask, 7, columns, words.data());
      dropout_multipliers(mask, 7, columns, factor.data());
      for (std::size_t c = 0; c < columns; ++c) EXPECT_EQ(words[c / 32] >> (c % 32) & 1U, factor[c] == 0.0F ? 0U : 1U);
    }
  });
}

TEST(Dropout, MultipliesFloatsAndDoublesByTheSameMask) {
  on_every_target([] {
    const DropoutMask mask{0.25, 9, 3, 1};
    std::vector<float> in(100), out(100), factor(100);
    std::vector<double> wide(100);
    for (std::size_t i = 0; i < in.size(); ++i) wide[i] = in[i] = static_cast<float>(i) - 50.5F;
    dropout_multipliers(mask, 5, 100, factor.data());
    dropout_row(mask, 5, 100, in.data(), out.data());
    dropout_row(mask, 5, 100, wide.data(), wide.data());
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(out[i], in[i] * factor[i]);
      EXPECT_EQ(wide[i], static_cast<double>(in[i]) * static_cast<double>(factor[i]));
    }
  });
}

/// Share of dropped elements over `rows` rows of 64 columns.
double dropped(DropoutMask mask, std::uint32_t rows) {
  std::vector<float> factor(64);
  std::size_t zeros = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    dropout_multipliers(mask, row, 64, factor.data());
    for (const float f : factor) zeros += f == 0.0F ? 1 : 0;
  }
  return static_cast<double>(zeros) / (64.0 * rows);
}

TEST(Dropout, DropsAtTheRateAskedForAndKeepsTheMean) {
  for (const double p : {0.0, 0.1, 0.4, 0.9}) {
    const DropoutMask mask{p, 12046, 5, 2};
    const double n = 64.0 * 4000;
    EXPECT_NEAR(dropped(mask, 4000), p, 5 * std::sqrt(p * (1 - p) / n) + 1e-12);
    EXPECT_NEAR((1 - p) * static_cast<double>(mask.scale()), 1.0, 1e-4);
  }
}

/// Share of elements on which two masks agree about dropping; independent masks agree on p^2 + (1 - p)^2.
double agreement(const DropoutMask& a, const DropoutMask& b, std::uint32_t row_shift) {
  std::vector<float> fa(64), fb(64);
  std::size_t equal = 0;
  for (std::uint32_t row = 0; row < 4000; ++row) {
    dropout_multipliers(a, row, 64, fa.data());
    dropout_multipliers(b, row + row_shift, 64, fb.data());
    for (std::size_t c = 0; c < 64; ++c) equal += (fa[c] == 0.0F) == (fb[c] == 0.0F) ? 1 : 0;
  }
  return static_cast<double>(equal) / (64.0 * 4000);
}

TEST(Dropout, MasksOfOtherSeedsStepsSitesAndRowsAreIndependent) {
  const DropoutMask mask{0.4, 12046, 5, 2};
  const double expected = 0.4 * 0.4 + 0.6 * 0.6;
  EXPECT_NEAR(agreement(mask, {0.4, 12047, 5, 2}, 0), expected, 0.005);
  EXPECT_NEAR(agreement(mask, {0.4, 12046, 6, 2}, 0), expected, 0.005);
  EXPECT_NEAR(agreement(mask, {0.4, 12046, 5, 3}, 0), expected, 0.005);
  EXPECT_NEAR(agreement(mask, mask, 1), expected, 0.005);
}

}  // namespace
}  // namespace chargpt
