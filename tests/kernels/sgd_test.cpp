#include "chargpt/kernels/sgd.hpp"

#include "kernels/support.hpp"

namespace chargpt {
namespace {

TEST(Sgd, FollowsTheRecurrenceWithAndWithoutMomentum) {
  on_every_target([] {
    for (const std::size_t count : {1, 15, 64, 77}) {
      for (const float momentum : {0.0F, 0.8F}) {
        const auto g = some_numbers(count, 1), before = some_numbers(count, 2), m0 = some_numbers(count, 3);
        std::vector<double> values, buffer;
        for (std::size_t i = 0; i < count; ++i) {
          const auto value = static_cast<double>(before[i]);
          const double kept = momentum > 0.0F ? 0.8 * static_cast<double>(m0[i]) : 0.0;
          buffer.push_back(kept + 0.5 * static_cast<double>(g[i]) + 0.3 * value);
          values.push_back(value - 0.01 * buffer[i]);
        }
        std::vector<float> got = before, m = m0;
        sgd({0.01F, momentum, 0.3F, 0.5F}, g.data(), count, got.data(), momentum > 0.0F ? m.data() : nullptr);
        expect_near(got, values, 1e-6);
        if (momentum > 0.0F) expect_near(m, buffer, 1e-6);
      }
    }
  });
}

}  // namespace
}  // namespace chargpt
