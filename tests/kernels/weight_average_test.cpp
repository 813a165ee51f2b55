#include "chargpt/kernels/weight_average.hpp"

#include "kernels/support.hpp"

namespace chargpt {
namespace {

TEST(UpdateAverage, MovesTheAverageTowardsTheValues) {
  on_every_target([] {
    for (const std::size_t count : {1, 15, 64, 77}) {
      const auto values = some_numbers(count, 1), before = some_numbers(count, 2);
      std::vector<double> wanted;
      for (std::size_t i = 0; i < count; ++i) {
        wanted.push_back(0.9 * static_cast<double>(before[i]) + 0.1 * static_cast<double>(values[i]));
      }
      std::vector<float> got = before;
      update_average(values.data(), count, 0.9F, got.data());
      expect_near(got, wanted, 1e-6);
      got = before;
      update_average(values.data(), count, 0.0F, got.data());
      expect_near(got, {values.begin(), values.end()}, 1e-6);
    }
  });
}

}  // namespace
}  // namespace chargpt
