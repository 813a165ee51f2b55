#include "chargpt/kernels/layer_norm.hpp"

#include "kernels/support.hpp"

namespace chargpt {
namespace {

struct Problem {
  Problem(std::size_t row_count, std::size_t column_count)
      : rows(row_count),
        columns(column_count),
        x(some_numbers(rows * columns, 1)),
        weight(some_numbers(columns, 2)),
        bias(some_numbers(columns, 3)),
        dy(some_numbers(rows * columns, 4)),
        normal(rows * columns),
        inverse_deviation(rows),
        y(rows * columns) {
    for (float& value : x) value += 5.0F;  // a mean far from 0
  }

  void run() {
    layer_norm(x.data(), rows, columns, weight.data(), bias.data(), normal.data(), inverse_deviation.data(), y.data());
  }

  /// The formula in double precision.
  std::vector<double> truth(const std::vector<double>& from) const {
    std::vector<double> result;
    const auto n = static_cast<double>(columns);
    for (std::size_t r = 0; r < rows; ++r) {
      double mean = 0.0, variance = 0.0;
      for (std::size_t c = 0; c < columns; ++c) mean += from[r * columns + c] / n;
      for (std::size_t c = 0; c < columns; ++c) variance += std::pow(from[r * columns + c] - mean, 2) / n;
      for (std::size_t c = 0; c < columns; ++c) {
        result.push_back((from[r * columns + c] - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(weight[c]) +
                         static_cast<double>(bias[c]));
      }
    }
    return result;
  }

  std::size_t rows, columns;
  std::vector<float> x, weight, bias, dy, normal, inverse_deviation, y;
};

TEST(LayerNorm, IsItsFormula) {
  on_every_target([] {
    for (const std::size_t columns : {1, 7, 16, 33, 128}) {
      Problem problem(3, columns);
      problem.run();
      expect_near(problem.y, problem.truth({problem.x.begin(), problem.x.end()}), 2e-5);
    }
  });
}

TEST(LayerNorm, WithoutBiasIsThatWithABiasOfZero) {
  on_every_target([] {
    for (const std::size_t columns : {7, 33, 128}) {
      Problem problem(3, columns);
      problem.bias.assign(columns, 0.0F);
      problem.run();
      const std::vector<float> wanted = problem.y;
      layer_norm(problem.x.data(), 3, columns, problem.weight.data(), nullptr, problem.normal.data(),
                 problem.inverse_deviation.data(), problem.y.data());
      EXPECT_EQ(problem.y, wanted);
      std::vector<float> dx(wanted.size()), dweight(columns), dbias(columns), dx_without = dx,
                                                                              dweight_without = dweight;
      add_layer_norm_gradient(problem.dy.data(), problem.normal.data(), problem.inverse_deviation.data(),
                              problem.weight.data(), 3, columns, dx.data(), dweight.data(), dbias.data());
      add_layer_norm_gradient(problem.dy.data(), problem.normal.data(), problem.inverse_deviation.data(),
                              problem.weight.data(), 3, columns, dx_without.data(), dweight_without.data(), nullptr);
      EXPECT_EQ(dx_without, dx);
      EXPECT_EQ(dweight_without, dweight);
    }
  });
}

TEST(LayerNorm, AddsTheGradients) {
  on_every_target([] {
    for (const std::size_t columns : {7, 33, 128}) {
      Problem problem(3, columns);
      problem.run();
      std::vector<double> x(problem.x.begin(), problem.x.end()), dx(x.size(), 1.0), dweight(columns, 1.0),
          dbias(columns, 1.0);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double h = 1e-5, value = x[i];
        x[i] = value + h;
        const auto above = problem.truth(x);
        x[i] = value - h;
        const auto below = problem.truth(x);
        x[i] = value;
        for (std::size_t j = 0; j < x.size(); ++j)
          dx[i] += (above[j] - below[j]) / (2 * h) * static_cast<double>(problem.dy[j]);
        dweight[i % columns] += static_cast<double>(problem.normal[i]) * static_cast<double>(problem.dy[i]);
        dbias[i % columns] += static_cast<double>(problem.dy[i]);
      }
      std::vector<float> got(x.size(), 1.0F), got_weight(columns, 1.0F), got_bias(columns, 1.0F);
      add_layer_norm_gradient(problem.dy.data(), problem.normal.data(), problem.inverse_deviation.data(),
                              problem.weight.data(), 3, columns, got.data(), got_weight.data(), got_bias.data());
      expect_near(got, dx, 2e-5);
      expect_near(got_weight, dweight, 1e-6);
      expect_near(got_bias, dbias, 1e-6);
    }
  });
}

}  // namespace
}  // namespace chargpt
