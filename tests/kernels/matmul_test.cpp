#include "chargpt/kernels/matmul.hpp"

#include "kernels/support.hpp"

namespace chargpt {
namespace {

struct Size {
  std::size_t rows, inputs, outputs;
};

/// One of everything, sizes that fill no vector and no panel, and ones that do.
const std::vector<Size> kSizes = {{1, 1, 1}, {1, 128, 65}, {5, 7, 33}, {13, 3, 97}, {64, 128, 128}, {70, 33, 31}};

/// Puts in front of a number of floats some that belong to nobody, and behind them as well.
struct Guarded {
  explicit Guarded(std::size_t count) : memory(count + 64, 12345.0F) {}
  float* data() { return memory.data() + 32; }
  std::vector<float> values() const { return {memory.begin() + 32, memory.end() - 32}; }
  bool untouched_outside() const {
    const auto same = [](float x) { return x == 12345.0F; };
    return std::all_of(memory.begin(), memory.begin() + 32, same) && std::all_of(memory.end() - 32, memory.end(), same);
  }
  std::vector<float> memory;
};

TEST(Matmul, MultipliesByTheTransposedWeightsAndAddsTheBias) {
  on_every_target([] {
    for (const auto& [rows, inputs, outputs] : kSizes) {
      const auto x = some_numbers(rows * inputs, 1), w = some_numbers(outputs * inputs, 2),
                 b = some_numbers(outputs, 3);
      PackedMatrix packed(inputs, outputs);
      packed.pack_transposed(w.data());
      for (const bool with_bias : {false, true}) {
        std::vector<double> truth;
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t n = 0; n < outputs; ++n) {
            double sum = with_bias ? static_cast<double>(b[n]) : 0.0;
            for (std::size_t k = 0; k < inputs; ++k)
              sum += static_cast<double>(x[i * inputs + k]) * static_cast<double>(w[n * inputs + k]);
            truth.push_back(sum);
          }
        }
        Guarded y(rows * outputs);
        multiply(x.data(), rows, packed, with_bias ? b.data() : nullptr, y.data());
        expect_near(y.values(), truth, 1e-6);
        EXPECT_TRUE(y.untouched_outside());
      }
    }
  });
}

TEST(Matmul, MultipliesByTheWeightsThemselves) {
  on_every_target([] {
    for (const auto& [rows, inputs, outputs] : kSizes) {
      const auto dy = some_numbers(rows * outputs, 1), w = some_numbers(outputs * inputs, 2);
      PackedMatrix packed(outputs, inputs);
      packed.pack(w.data());
      std::vector<double> truth;
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k < inputs; ++k) {
          double sum = 0.0;
          for (std::size_t n = 0; n < outputs; ++n)
            sum += static_cast<double>(dy[i * outputs + n]) * static_cast<double>(w[n * inputs + k]);
          truth.push_back(sum);
        }
      }
      Guarded dx(rows * inputs);
      multiply(dy.data(), rows, packed, nullptr, dx.data());
      expect_near(dx.values(), truth, 1e-6);
      EXPECT_TRUE(dx.untouched_outside());
    }
  });
}

TEST(Matmul, ARowsResultIsTheSameBitsAloneAndAmongOthers) {
  on_every_target([] {
    constexpr std::size_t kRows = 29, kInputs = 50, kOutputs = 70;
    const auto x = some_numbers(kRows * kInputs, 1), w = some_numbers(kOutputs * kInputs, 2),
               b = some_numbers(kOutputs, 3);
    PackedMatrix packed(kInputs, kOutputs);
    packed.pack_transposed(w.data());
    std::vector<float> together(kRows * kOutputs), alone(kOutputs);
    multiply(x.data(), kRows, packed, b.data(), together.data());
    for (std::size_t i = 0; i < kRows; ++i) {
      multiply(x.data() + i * kInputs, 1, packed, b.data(), alone.data());
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(i * kOutputs)));
    }
  });
}

TEST(Matmul, AddsTheWeightGradientOfSomeOutputs) {
  on_every_target([] {
    for (const auto& [rows, inputs, outputs] : kSizes) {
      const auto dy = some_numbers(rows * outputs, 1), x = some_numbers(rows * inputs, 2);
      const auto before = some_numbers(outputs * inputs, 3);
      const std::size_t first = outputs / 3, last = outputs - outputs / 4;
      std::vector<double> truth(before.begin(), before.end());
      for (std::size_t n = first; n < last; ++n) {
        for (std::size_t k = 0; k < inputs; ++k) {
          for (std::size_t i = 0; i < rows; ++i)
            truth[n * inputs + k] += static_cast<double>(dy[i * outputs + n]) * static_cast<double>(x[i * inputs + k]);
        }
      }
      Guarded gradient(outputs * inputs);
      std::copy(before.begin(), before.end(), gradient.data());
      add_weight_gradient(dy.data(), outputs, x.data(), inputs, rows, first, last, gradient.data());
      expect_near(gradient.values(), truth, 1e-6);
      EXPECT_TRUE(gradient.untouched_outside());
    }
  });
}

TEST(Matmul, AddsTheSumsOfColumns) {
  on_every_target([] {
    for (const auto& [rows, inputs, columns] : kSizes) {
      const auto dy = some_numbers(rows * columns, 1), before = some_numbers(columns, 2);
      std::vector<double> truth(before.begin(), before.end());
      for (std::size_t i = 0; i < rows * columns; ++i) truth[i % columns] += static_cast<double>(dy[i]);
      std::vector<float> sums = before;
      add_column_sums(dy.data(), rows, columns, sums.data());
      expect_near(sums, truth, 1e-6);
    }
  });
}

TEST(Matmul, ANaNSpoilsItsOwnRowOnly) {
  on_every_target([] {
    std::vector<float> x(3 * 20, 1.0F);
    x[20] = NAN;
    PackedMatrix packed(20, 40);
    packed.pack_transposed(some_numbers(800, 1).data());
    std::vector<float> y(3 * 40);
    multiply(x.data(), 3, packed, nullptr, y.data());
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 40 == 1);
  });
}

}  // namespace
}  // namespace chargpt
