#include "chargpt/kernels/network.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "chargpt/kernels/bf16.hpp"
#include "kernels/support.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 7, kWindows = 3, kLength = 5;
constexpr std::size_t kTokens = kWindows * kLength;

ModelConfig small_config() {
  ModelConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 6;
  config.context = 8;
  config.dropout = 0.3;
  return config;
}

TokenBatch some_batch() {
  TokenBatch batch{kWindows, kLength, {}, {}};
  for (std::uint64_t i = 0; i < kTokens; ++i) {
    batch.inputs.push_back(static_cast<std::int32_t>(random_below(1, Purpose::evaluation, 0, i, kVocabulary)));
    batch.targets.push_back(static_cast<std::int32_t>(random_below(2, Purpose::evaluation, 0, i, kVocabulary)));
  }
  return batch;
}

using Rows = std::vector<std::vector<double>>;

/// The model as its description says it, one number at a time in double precision: nothing of it is shared with the
/// kernels but the numbers of the dropout masks.
class PlainModel {
 public:
  PlainModel(const ModelConfig& config, const DropoutState& dropout)
      : config_(config), dropout_(dropout), layout_(config, kVocabulary) {}

  /// Mean loss of the batch in nats.
  double loss(const std::vector<double>& values, const TokenBatch& batch) {
    values_ = &values;
    double nats = 0.0;
    for (std::int64_t w = 0; w < batch.windows; ++w) {
      const auto first = static_cast<std::size_t>(w * batch.length);
      const Rows logits = forward(batch.inputs.data() + first, static_cast<std::uint32_t>(w));
      for (std::size_t t = 0; t < logits.size(); ++t) {
        double sum = 0.0;
        for (const double x : logits[t]) sum += std::exp(x);
        nats += std::log(sum) - logits[t][static_cast<std::size_t>(batch.targets[first + t])];
      }
    }
    return nats / static_cast<double>(batch.windows * batch.length);
  }

 private:
  double value(const std::string& name, std::size_t i) const {
    return (*values_)[static_cast<std::size_t>(layout_.offset(name)) + i];
  }

  Rows linear(const Rows& x, std::size_t outputs, const std::string& name, bool bias) const {
    Rows y;
    for (const auto& row : x) {
      auto& result = y.emplace_back(outputs);
      for (std::size_t n = 0; n < outputs; ++n) {
        result[n] = bias ? value(name + ".bias", n) : 0.0;
        for (std::size_t k = 0; k < row.size(); ++k) result[n] += row[k] * value(name + ".weight", n * row.size() + k);
      }
    }
    return y;
  }

  Rows normalise(Rows x, const std::string& name) const {
    for (auto& row : x) {
      double mean = 0.0, variance = 0.0;
      for (const double e : row) mean += e / static_cast<double>(row.size());
      for (const double e : row) variance += (e - mean) * (e - mean) / static_cast<double>(row.size());
      for (std::size_t c = 0; c < row.size(); ++c) {
        row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * value(name + ".weight", c) + value(name + ".bias", c);
      }
    }
    return x;
  }

  void drop(Rows& x, std::int64_t layer, DropoutPlace place, std::uint32_t first_row) const {
    if (dropout_.p == 0.0) return;
    for (std::size_t t = 0; t < x.size(); ++t) {
      std::vector<float> factor(x[t].size());
      dropout_multipliers(dropout_.mask(layer, place), first_row + static_cast<std::uint32_t>(t), factor.size(),
                          factor.data());
      for (std::size_t c = 0; c < factor.size(); ++c) x[t][c] *= static_cast<double>(factor[c]);
    }
  }

  static void add(const Rows& y, Rows& x) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t c = 0; c < x[t].size(); ++c) x[t][c] += y[t][c];
    }
  }

  /// Of one head: (T, D).
  Rows attend(const Rows& x, std::int64_t layer, std::size_t head, std::uint32_t window) const {
    const auto size = static_cast<std::size_t>(config_.head_size());
    const std::string name = block_prefix(layer) + "mha.heads." + std::to_string(head) + ".";
    const Rows q = linear(x, size, name + "query", false), k = linear(x, size, name + "key", false),
               v = linear(x, size, name + "value", false);
    Rows weights(x.size(), std::vector<double>(x.size())), y(x.size(), std::vector<double>(size));
    for (std::size_t t = 0; t < x.size(); ++t) {
      double sum = 0.0;
      for (std::size_t j = 0; j <= t; ++j) {
        double score = 0.0;
        for (std::size_t d = 0; d < size; ++d) score += q[t][d] * k[j][d];
        sum += weights[t][j] = std::exp(score / std::sqrt(static_cast<double>(size)));
      }
      for (double& weight : weights[t]) weight /= sum;
    }
    const auto T = static_cast<std::uint32_t>(x.size());
    drop(weights, layer, DropoutPlace::attention_weights,
         (window * static_cast<std::uint32_t>(config_.heads) + static_cast<std::uint32_t>(head)) * T);
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t j = 0; j <= t; ++j) {
        for (std::size_t d = 0; d < size; ++d) y[t][d] += weights[t][j] * v[j][d];
      }
    }
    return y;
  }

  Rows forward(const std::int32_t* ids, std::uint32_t window) const {
    const auto C = static_cast<std::size_t>(config_.width);
    Rows x(kLength, std::vector<double>(C));
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t c = 0; c < C; ++c) {
        x[t][c] =
            value("token_emb.weight", static_cast<std::size_t>(ids[t]) * C + c) + value("pos_emb.weight", t * C + c);
      }
    }
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) block(layer, window, x);
    return linear(normalise(x, "l"), kVocabulary, "lm", true);
  }

  void block(std::int64_t layer, std::uint32_t window, Rows& x) const {
    const auto C = static_cast<std::size_t>(config_.width);
    const std::string name = block_prefix(layer);
    const Rows normal = normalise(x, name + "l1");
    Rows heads(x.size());
    for (std::size_t h = 0; h < static_cast<std::size_t>(config_.heads); ++h) {
      const Rows y = attend(normal, layer, h, window);
      for (std::size_t t = 0; t < x.size(); ++t) heads[t].insert(heads[t].end(), y[t].begin(), y[t].end());
    }
    Rows projected = linear(heads, C, name + "mha.proj", true);
    drop(projected, layer, DropoutPlace::projection, window * kLength);
    add(projected, x);
    Rows hidden = linear(normalise(x, name + "l2"), 4 * C, name + "ff.ln1", true);
    for (auto& row : hidden) {
      for (double& e : row) e *= 0.5 * std::erfc(-e / std::sqrt(2.0));
    }
    Rows fed = linear(hidden, C, name + "ff.ln2", true);
    drop(fed, layer, DropoutPlace::feed_forward, window * kLength);
    add(fed, x);
  }

  ModelConfig config_;
  DropoutState dropout_;
  ParameterLayout layout_;
  const std::vector<double>* values_ = nullptr;
};

struct Result {
  double loss;
  std::vector<float> gradients;
};

Result network_result(const std::vector<float>& values, const DropoutState& dropout, int threads,
                      Precision precision = Precision::fp32) {
  ThreadPool pool(threads);
  Network network(small_config(), kVocabulary, pool, precision);
  std::vector<float> gradients(values.size());
  network.load(values.data(), true);
  const double loss = network.accumulate_gradients(some_batch(), dropout, 1.0, gradients.data());
  return {loss, gradients};
}

std::vector<float> some_values() {
  auto values = some_numbers(static_cast<std::size_t>(ParameterLayout(small_config(), kVocabulary).size()), 5);
  for (float& value : values) value *= 0.8F;
  return values;
}

TEST(Network, LossAndGradientsAreThoseOfThePlainModel) {
  const std::vector<float> values = some_values();
  for (const double p : {0.0, 0.3}) {
    const DropoutState dropout{p, 11, 4, 0};
    PlainModel plain(small_config(), dropout);
    std::vector<double> exact(values.begin(), values.end()), slopes;
    const TokenBatch batch = some_batch();
    const double loss = plain.loss(exact, batch);
    for (double& value : exact) {
      constexpr double kStep = 1e-5;
      const double middle = value;
      value = middle + kStep;
      const double above = plain.loss(exact, batch);
      value = middle - kStep;
      slopes.push_back((above - plain.loss(exact, batch)) / (2 * kStep));
      value = middle;
    }
    on_every_target([&] {
      const Result got = network_result(values, dropout, 1);
      EXPECT_NEAR(got.loss, loss, 1e-6 * loss);
      expect_near(got.gradients, slopes, 2e-6);
    });
  }
}

TEST(Network, Bf16IsNearAndTheSameForAnyNumberOfThreads) {
  if (bf16_units().empty()) return;
  const std::vector<float> values = some_values();
  const DropoutState dropout{0.3, 11, 4, 0};
  const Result exact = network_result(values, dropout, 1);
  const Result one = network_result(values, dropout, 1, Precision::bf16);
  const Result three = network_result(values, dropout, 3, Precision::bf16);
  EXPECT_EQ(one.loss, three.loss);
  EXPECT_EQ(one.gradients, three.gradients);
  EXPECT_NE(one.gradients, exact.gradients);
  EXPECT_NEAR(one.loss, exact.loss, 0.01 * exact.loss);  // 8 bits of significand: 2^-9 an operand
  expect_near(one.gradients, {exact.gradients.begin(), exact.gradients.end()}, 0.03);
}

TEST(Network, RefusesToTrainWithWeightsLoadedForInference) {
  const std::vector<float> values = some_values();
  std::vector<float> gradients(values.size());
  ThreadPool pool(1);
  Network network(small_config(), kVocabulary, pool);
  EXPECT_THROW(network.accumulate_gradients(some_batch(), {}, 1.0, gradients.data()), std::logic_error);
  network.load(values.data(), true);
  EXPECT_NO_THROW(network.accumulate_gradients(some_batch(), {}, 1.0, gradients.data()));
  network.load(values.data(), false);
  EXPECT_THROW(network.accumulate_gradients(some_batch(), {}, 1.0, gradients.data()), std::logic_error);
}

}  // namespace
}  // namespace chargpt
