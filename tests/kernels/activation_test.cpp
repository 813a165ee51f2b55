#include "chargpt/kernels/activation.hpp"

#include <limits>

#include "chargpt/kernels/dropout.hpp"
#include "kernels/support.hpp"

namespace chargpt {
namespace {

double phi_integral(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(Gelu, AndItsSlopeAreExact) {
  on_every_target([] {
    std::vector<float> x;
    for (int i = -2000; i <= 2001; ++i) x.push_back(static_cast<float>(i) * 0.01F);
    std::vector<float> y = x, slope(x.size());
    gelu(y.data(), y.size(), slope.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto value = static_cast<double>(x[i]);
      const double density = std::exp(-0.5 * value * value) / std::sqrt(2.0 * M_PI);
      EXPECT_NEAR(y[i], value * phi_integral(value), 2e-7 * std::max(1.0, std::abs(value))) << value;
      EXPECT_NEAR(slope[i], phi_integral(value) + value * density, 5e-7) << value;
    }
    std::vector<float> alone = x;
    gelu(alone.data(), alone.size(), nullptr);
    EXPECT_EQ(alone, y);
  });
}

TEST(Gelu, KeepsWhatIsNotANumber) {
  on_every_target([] {
    std::vector<float> x(20, std::numeric_limits<float>::quiet_NaN());
    gelu(x.data(), x.size(), nullptr);
    for (const float value : x) EXPECT_TRUE(std::isnan(value));
  });
}

TEST(Dropped, RowsAreAddedAndCopiedWithTheirMasks) {
  on_every_target([] {
    for (const std::size_t columns : {1, 31, 64, 100}) {
      constexpr std::size_t kRows = 3;
      const DropoutMask mask{0.4, 1, 2, 3};
      std::vector<std::uint32_t> words(kRows * keep_words(columns));
      std::vector<float> factor(kRows * columns);
      for (std::uint32_t r = 0; r < kRows; ++r) {
        draw_keep_bits(mask, r, columns, words.data() + r * keep_words(columns));
        dropout_multipliers(mask, r, columns, factor.data() + r * columns);
      }
      const auto x = some_numbers(kRows * columns, 1), y = some_numbers(kRows * columns, 2);
      std::vector<float> sum = x, copy(x.size()), plain = x;
      add_dropped(y.data(), kRows, columns, {words.data(), mask.scale()}, sum.data());
      copy_dropped(y.data(), kRows, columns, {words.data(), mask.scale()}, copy.data());
      add_dropped(y.data(), kRows, columns, {}, plain.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(copy[i], y[i] * factor[i]);
        EXPECT_EQ(sum[i], x[i] + y[i] * factor[i]);
        EXPECT_EQ(plain[i], x[i] + y[i]);
      }
    }
  });
}

TEST(MultiplyBy, MultipliesElementByElement) {
  on_every_target([] {
    const auto factor = some_numbers(37, 1);
    auto x = some_numbers(37, 2);
    const auto before = x;
    multiply_by(factor.data(), x.size(), x.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], before[i] * factor[i]);
  });
}

}  // namespace
}  // namespace chargpt
