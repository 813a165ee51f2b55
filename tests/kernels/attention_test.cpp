#include "chargpt/kernels/attention.hpp"

#include "kernels/support.hpp"

namespace chargpt {
namespace {

using Numbers = std::vector<double>;

/// Attention by its formula in double precision, one number at a time. multiplier(h, t, j) is that of dropout.
struct Reference {
  AttentionShape shape;
  Numbers qkv;
  std::vector<float> multiplier;  // (H, T, T)

  double q(std::size_t h, std::size_t t, std::size_t d) const { return qkv[at(0, h, t, d)]; }
  double k(std::size_t h, std::size_t t, std::size_t d) const { return qkv[at(1, h, t, d)]; }
  double v(std::size_t h, std::size_t t, std::size_t d) const { return qkv[at(2, h, t, d)]; }
  std::size_t at(std::size_t part, std::size_t h, std::size_t t, std::size_t d) const {
    return t * 3 * shape.width() + part * shape.width() + h * shape.head_size + d;
  }

  /// Softmax weights of query t of head h over the keys up to t.
  Numbers weights(std::size_t h, std::size_t t) const {
    Numbers w(t + 1);
    double sum = 0.0;
    for (std::size_t j = 0; j <= t; ++j) {
      double score = 0.0;
      for (std::size_t d = 0; d < shape.head_size; ++d) score += q(h, t, d) * k(h, j, d);
      sum += w[j] = std::exp(score / std::sqrt(static_cast<double>(shape.head_size)));
    }
    for (double& x : w) x /= sum;
    return w;
  }

  Numbers result() const {
    Numbers y(shape.positions * shape.width());
    for (std::size_t h = 0; h < shape.heads; ++h) {
      for (std::size_t t = 0; t < shape.positions; ++t) {
        const Numbers w = weights(h, t);
        for (std::size_t j = 0; j <= t; ++j) {
          const double m = static_cast<double>(multiplier[(h * shape.positions + t) * shape.positions + j]);
          for (std::size_t d = 0; d < shape.head_size; ++d) {
            y[t * shape.width() + h * shape.head_size + d] += w[j] * m * v(h, j, d);
          }
        }
      }
    }
    return y;
  }
};

/// dy . result() as a function of qkv: its finite differences are the gradient.
double dot_of_result(Reference& reference, const std::vector<float>& dy) {
  const Numbers y = reference.result();
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(dy[i]);
  return sum;
}

struct Case {
  AttentionShape shape;
  double p;
};

const std::vector<Case> kCases = {{{1, 1, 1}, 0.0},   {{1, 2, 8}, 0.4},   {{17, 2, 8}, 0.0},
                                  {{16, 1, 5}, 0.4},  {{33, 2, 16}, 0.4}, {{20, 1, 32}, 0.2},
                                  {{70, 1, 12}, 0.4}, {{18, 1, 64}, 0.0}, {{9, 1, 128}, 0.1}};

struct Problem {
  explicit Problem(const Case& c) : shape(c.shape), mask{c.p, 12046, 3, 5} {
    const std::size_t T = shape.positions;
    qkv = some_numbers(T * 3 * shape.width(), 1);
    for (float& x : qkv) x *= 3.0F;  // scores that differ
    dy = some_numbers(T * shape.width(), 2);
    reference.shape = shape;
    reference.qkv.assign(qkv.begin(), qkv.end());
    reference.multiplier.resize(shape.heads * T * T);
    for (std::size_t h = 0; h < shape.heads; ++h) {
      for (std::size_t t = 0; t < T; ++t) {
        dropout_multipliers(mask, static_cast<std::uint32_t>(100 + h * 1000 + t), T,
                            reference.multiplier.data() + (h * T + t) * T);
      }
    }
  }

  /// Forward, and qkv turned into its gradient.
  void run() {
    std::vector<std::uint32_t> words(attention_keep_words(shape));
    draw_attention_bits(shape, mask, 100, 1000, words.data());
    const AttentionKeep keep = mask.p > 0.0 ? AttentionKeep{words.data(), mask.scale()} : AttentionKeep{};
    std::vector<float> scratch(attention_scratch(shape)), statistics(shape.heads * shape.positions * 2);
    y.assign(shape.positions * shape.width(), 0.0F);
    gradient = qkv;
    attention(shape, gradient.data(), keep, statistics.data(), scratch.data(), y.data());
    attention_gradient(shape, y.data(), dy.data(), keep, statistics.data(), scratch.data(), gradient.data());
  }

  AttentionShape shape;
  DropoutMask mask;
  std::vector<float> qkv, dy, y, gradient;
  Reference reference;
};

TEST(Attention, IsItsFormulaWithTheMasksOfDropout) {
  on_every_target([] {
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.shape.positions * 1000 + c.shape.head_size);
      Problem problem(c);
      problem.run();
      expect_near(problem.y, problem.reference.result(), 2e-6);
    }
  });
}

TEST(Attention, GradientsAreFiniteDifferencesOfTheFormula) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.shape.positions * 1000 + c.shape.head_size);
    Problem truth_of(c);
    Numbers truth;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < truth_of.qkv.size(); i += 1 + truth_of.qkv.size() / 300) {
      double& x = truth_of.reference.qkv[i];
      const double value = x, h = 1e-5;
      x = value + h;
      const double above = dot_of_result(truth_of.reference, truth_of.dy);
      x = value - h;
      truth.push_back((above - dot_of_result(truth_of.reference, truth_of.dy)) / (2 * h));
      x = value;
      places.push_back(i);
    }
    on_every_target([&] {
      Problem problem(c);
      problem.run();
      std::vector<float> got;
      for (const std::size_t i : places) got.push_back(problem.gradient[i]);
      expect_near(got, truth, 1e-5);
    });
  }
}

TEST(Attention, AQuerySeesNoLaterKey) {
  on_every_target([] {
    constexpr std::size_t kSeen = 25;  // positions that stay as they are
    Problem problem({{40, 2, 8}, 0.4});
    problem.run();
    const std::vector<float> before = problem.y;
    const std::size_t C = problem.shape.width();
    for (std::size_t i = kSeen * 3 * C; i < problem.qkv.size(); ++i) problem.qkv[i] += 1.0F;
    problem.run();
    for (std::size_t i = 0; i < before.size(); ++i) ASSERT_EQ(problem.y[i] == before[i], i / C < kSeen) << i;
  });
}

TEST(Attention, LargeScoresDoNotOverflow) {
  on_every_target([] {
    Problem problem({{20, 1, 8}, 0.0});
    for (float& x : problem.qkv) x *= 100.0F;
    problem.run();
    for (const float x : problem.y) EXPECT_TRUE(std::isfinite(x));
    for (const float x : problem.gradient) EXPECT_TRUE(std::isfinite(x));
  });
}

}  // namespace
}  // namespace chargpt
