#include "chargpt/kernels/cross_entropy.hpp"

#include "kernels/support.hpp"

namespace chargpt {
namespace {

TEST(CrossEntropy, LossesAndGradientsAreTheirFormulas) {
  on_every_target([] {
    for (const std::size_t symbols : {1, 2, 17, 65, 98}) {
      constexpr std::size_t kRows = 4;
      auto logits = some_numbers(kRows * symbols, 1);
      for (float& x : logits) x = x * 20.0F + 300.0F;  // exp of it would overflow
      std::vector<std::int32_t> targets;
      std::vector<double> losses, gradient;
      for (std::size_t r = 0; r < kRows; ++r) {
        targets.push_back(static_cast<std::int32_t>(r * 5 % symbols));
        double sum = 0.0;
        const auto logit = [&](std::size_t i) { return static_cast<double>(logits[r * symbols + i]) - 300.0; };
        for (std::size_t i = 0; i < symbols; ++i) sum += std::exp(logit(i));
        const auto target = static_cast<std::size_t>(targets[r]);
        losses.push_back(std::log(sum) - logit(target));
        for (std::size_t i = 0; i < symbols; ++i) {
          gradient.push_back(0.25 * (std::exp(logit(i)) / sum - (i == target ? 1.0 : 0.0)));
        }
      }
      std::vector<float> got(kRows), with_gradient(kRows);
      cross_entropy(logits.data(), kRows, symbols, targets.data(), got.data());
      cross_entropy_gradient(logits.data(), kRows, symbols, targets.data(), 0.0F, 0.25F, with_gradient.data());
      expect_near(got, losses, 1e-6);
      EXPECT_EQ(got, with_gradient);
      expect_near(logits, gradient, 1e-6);
    }
  });
}

TEST(CrossEntropy, WithSmoothingIsTheCrossEntropyOfTheSmoothedTarget) {
  on_every_target([] {
    for (const std::size_t symbols : {1, 2, 17, 65, 98}) {
      auto logits = some_numbers(symbols, 1);
      for (float& x : logits) x = x * 5.0F + 100.0F;
      const auto target = static_cast<std::int32_t>(symbols / 2);
      double sum = 0.0, loss = 0.0;
      for (const float x : logits) sum += std::exp(static_cast<double>(x) - 100.0);
      std::vector<double> gradient;
      for (std::size_t i = 0; i < symbols; ++i) {
        const double wanted = 0.1 / static_cast<double>(symbols) + (i == symbols / 2 ? 0.9 : 0.0);
        const double log_p = static_cast<double>(logits[i]) - 100.0 - std::log(sum);
        loss -= wanted * log_p;
        gradient.push_back(0.25 * (std::exp(log_p) - wanted));
      }
      float got = 0.0F;
      cross_entropy_gradient(logits.data(), 1, symbols, &target, 0.1F, 0.25F, &got);
      EXPECT_NEAR(got, loss, 1e-5);
      expect_near(logits, gradient, 1e-6);
    }
  });
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheirNumber) {
  on_every_target([] {
    const std::vector<float> logits(98, -3.0F);
    const std::int32_t target = 7;
    float loss = 0.0F;
    cross_entropy(logits.data(), 1, 98, &target, &loss);
    EXPECT_NEAR(loss, std::log(98.0), 1e-6);
  });
}

TEST(CrossEntropy, ANaNIsNotSwallowed) {
  on_every_target([] {
    for (std::size_t place = 0; place < 40; ++place) {
      std::vector<float> logits(40, 1.0F);
      logits[place] = NAN;
      const std::int32_t target = 3;
      float loss = 0.0F;
      cross_entropy(logits.data(), 1, 40, &target, &loss);
      EXPECT_TRUE(std::isnan(loss)) << place;
    }
  });
}

}  // namespace
}  // namespace chargpt
