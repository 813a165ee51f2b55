#include "chargpt/kernels/bf16.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <vector>

#include "chargpt/base/aligned_vector.hpp"
#include "chargpt/kernels/matmul.hpp"
#include "kernels/support.hpp"

namespace chargpt {
namespace {

/// The definition: the upper half of a float, rounded to nearest even.
double rounded(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<double>(std::bit_cast<float>((bits + 0x7FFFU + (bits >> 16U & 1U)) & 0xFFFF0000U));
}

struct Size {
  std::size_t rows, inputs, outputs;
};

/// One of everything, odd sizes, whole blocks, and more than is taken at once.
const std::vector<Size> kSizes = {{1, 1, 1},      {1, 128, 65}, {5, 7, 33},     {13, 3, 97},
                                  {64, 128, 128}, {70, 33, 31}, {130, 600, 40}, {300, 40, 210}};

/// A check with every unit that this machine has; without one there is nothing to check.
template <class Check>
void with_every_unit(const Check& check) {
  for (const Bf16Unit unit : bf16_units()) {
    SCOPED_TRACE(name(unit));
    check(unit);
  }
}

AlignedVector<std::uint32_t> panels_for(std::size_t depth, std::size_t columns) {
  return AlignedVector<std::uint32_t>((columns + 31) / 32 * 32 * bf16_pairs(depth));
}

TEST(Bf16, MultipliesByTheTransposedWeightsAndAddsTheBias) {
  with_every_unit([](Bf16Unit unit) {
    for (const auto& [rows, inputs, outputs] : kSizes) {
      const auto x = some_numbers(rows * inputs, 1), w = some_numbers(outputs * inputs, 2),
                 b = some_numbers(outputs, 3);
      auto panels = panels_for(inputs, outputs);
      bf16_pack_transposed(w.data(), inputs, outputs, panels.data());
      for (const bool with_bias : {false, true}) {
        std::vector<double> truth;
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t n = 0; n < outputs; ++n) {
            double sum = with_bias ? static_cast<double>(b[n]) : 0.0;
            for (std::size_t k = 0; k < inputs; ++k) sum += rounded(x[i * inputs + k]) * rounded(w[n * inputs + k]);
            truth.push_back(sum);
          }
        }
        std::vector<float> y(rows * outputs + 1, 7.0F);
        bf16_multiply(unit, x.data(), rows, {inputs, outputs, panels.data()}, with_bias ? b.data() : nullptr, y.data());
        EXPECT_EQ(y.back(), 7.0F);
        y.pop_back();
        expect_near(y, truth, 1e-6);
      }
    }
  });
}

TEST(Bf16, MultipliesByTheWeightsThemselves) {
  with_every_unit([](Bf16Unit unit) {
    for (const auto& [rows, inputs, outputs] : kSizes) {
      const auto dy = some_numbers(rows * outputs, 1), w = some_numbers(outputs * inputs, 2);
      auto panels = panels_for(outputs, inputs);
      bf16_pack(w.data(), outputs, inputs, panels.data());
      std::vector<double> truth;
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k < inputs; ++k) {
          double sum = 0.0;
          for (std::size_t n = 0; n < outputs; ++n) sum += rounded(dy[i * outputs + n]) * rounded(w[n * inputs + k]);
          truth.push_back(sum);
        }
      }
      std::vector<float> dx(rows * inputs);
      bf16_multiply(unit, dy.data(), rows, {outputs, inputs, panels.data()}, nullptr, dx.data());
      expect_near(dx, truth, 1e-6);
    }
  });
}

TEST(Bf16, AddsTheWeightGradientOfSomeOutputs) {
  with_every_unit([](Bf16Unit unit) {
    for (const auto& [rows, inputs, outputs] : kSizes) {
      const auto dy = some_numbers(rows * outputs, 1), x = some_numbers(rows * inputs, 2);
      auto gradient = some_numbers(outputs * inputs, 3);
      const std::size_t first = outputs / 30, last = outputs - outputs / 4;
      std::vector<double> truth(gradient.begin(), gradient.end());
      for (std::size_t n = first; n < last; ++n) {
        for (std::size_t k = 0; k < inputs; ++k) {
          for (std::size_t i = 0; i < rows; ++i)
            truth[n * inputs + k] += rounded(dy[i * outputs + n]) * rounded(x[i * inputs + k]);
        }
      }
      bf16_add_weight_gradient(unit, dy.data(), outputs, x.data(), inputs, rows, first, last, gradient.data());
      expect_near(gradient, truth, 1e-6);
    }
  });
}

TEST(Bf16, ARowsResultIsTheSameBitsAloneAndAmongOthers) {
  with_every_unit([](Bf16Unit unit) {
    constexpr std::size_t kRows = 69, kInputs = 50, kOutputs = 70;
    const auto x = some_numbers(kRows * kInputs, 1), w = some_numbers(kOutputs * kInputs, 2),
               b = some_numbers(kOutputs, 3);
    auto panels = panels_for(kInputs, kOutputs);
    bf16_pack_transposed(w.data(), kInputs, kOutputs, panels.data());
    const Bf16Panels right{kInputs, kOutputs, panels.data()};
    std::vector<float> together(kRows * kOutputs), alone(kOutputs);
    bf16_multiply(unit, x.data(), kRows, right, b.data(), together.data());
    for (std::size_t i = 0; i < kRows; ++i) {
      bf16_multiply(unit, x.data() + i * kInputs, 1, right, b.data(), alone.data());
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(i * kOutputs)));
    }
  });
}

TEST(Bf16, ANaNSpoilsItsOwnRowOnly) {
  with_every_unit([](Bf16Unit unit) {
    std::vector<float> x(3 * 20, 1.0F);
    x[20] = std::numeric_limits<float>::quiet_NaN();
    auto panels = panels_for(20, 40);
    bf16_pack_transposed(some_numbers(800, 1).data(), 20, 40, panels.data());
    std::vector<float> y(3 * 40);
    bf16_multiply(unit, x.data(), 3, {20, 40, panels.data()}, nullptr, y.data());
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 40 == 1);
  });
}

TEST(Bf16, APackedMatrixOfThatPrecisionUsesTheBestUnit) {
  if (bf16_units().empty()) {
    EXPECT_THROW(PackedMatrix(3, 5, Precision::bf16), std::logic_error);
    return;
  }
  const auto x = some_numbers(2 * 50, 1), w = some_numbers(70 * 50, 2), dy = some_numbers(2 * 70, 3);
  PackedMatrix packed(50, 70, Precision::bf16);
  auto panels = panels_for(50, 70);
  const Bf16Panels right{50, 70, panels.data()};
  std::vector<float> y(2 * 70), expected(2 * 70);
  packed.pack_transposed(w.data());
  multiply(x.data(), 2, packed, dy.data(), y.data());
  bf16_pack_transposed(w.data(), 50, 70, panels.data());
  bf16_multiply(bf16_units().front(), x.data(), 2, right, dy.data(), expected.data());
  EXPECT_EQ(y, expected);
  packed.pack(w.data());
  multiply(x.data(), 2, packed, nullptr, y.data());
  bf16_pack(w.data(), 50, 70, panels.data());
  bf16_multiply(bf16_units().front(), x.data(), 2, right, nullptr, expected.data());
  EXPECT_EQ(y, expected);
  std::vector<float> gradient(70 * 50), expected_gradient(70 * 50);
  add_weight_gradient(dy.data(), 70, x.data(), 50, 2, 0, 70, gradient.data(), Precision::bf16);
  bf16_add_weight_gradient(bf16_units().front(), dy.data(), 70, x.data(), 50, 2, 0, 70, expected_gradient.data());
  EXPECT_EQ(gradient, expected_gradient);
}

}  // namespace
}  // namespace chargpt
