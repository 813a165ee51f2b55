#include "chargpt/engine/optimizer.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <vector>

#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {
namespace {

/// A model of a few parameters, matrices and vectors.
CharGPT make_model() {
  torch::manual_seed(3);
  ModelConfig config;
  config.layers = 1;
  config.heads = 1;
  config.width = 2;
  config.context = 2;
  return CharGPT(config, 3);
}

OptimizerConfig make_config(DecayScope decay, double clip) {
  OptimizerConfig config;
  config.betas = {0.8, 0.95};
  config.epsilon = 1e-3;
  config.weight_decay = 0.3;
  config.decay = decay;
  config.clip = clip;
  return config;
}

/// Algorithm 2 of the paper, element by element in double precision.
class PlainAdamW {
 public:
  PlainAdamW(std::vector<double> values, std::size_t decayed, OptimizerConfig config)
      : values_(std::move(values)),
        m_(values_.size()),
        v_(values_.size()),
        decayed_(decayed),
        config_(std::move(config)) {}

  void step(std::vector<double> gradients, double rate) {
    double norm = 0.0;
    for (const double g : gradients) norm += g * g;
    norm = std::sqrt(norm);
    const double factor = config_.clip > 0 && norm > config_.clip ? config_.clip / (norm + 1e-6) : 1.0;
    ++t_;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double g = gradients[i] * factor, b1 = config_.betas[0], b2 = config_.betas[1];
      m_[i] = b1 * m_[i] + (1 - b1) * g;
      v_[i] = b2 * v_[i] + (1 - b2) * g * g;
      const double m_hat = m_[i] / (1 - std::pow(b1, t_)), v_hat = v_[i] / (1 - std::pow(b2, t_));
      const double decay = i < decayed_ ? config_.weight_decay : 0.0;
      values_[i] -= rate * (m_hat / (std::sqrt(v_hat) + config_.epsilon) + decay * values_[i]);
    }
  }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_, m_, v_;
  std::size_t decayed_;
  OptimizerConfig config_;
  int t_ = 0;
};

std::vector<double> to_vector(const torch::Tensor& tensor) {
  const torch::Tensor wide = tensor.to(torch::kDouble).contiguous();
  return {wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel()};
}

TEST(Optimizer, IsAdamWForBothDecayScopesWithAndWithoutClipping) {
  for (const DecayScope decay : {DecayScope::all, DecayScope::matrices}) {
    for (const double clip : {0.0, 0.5}) {
      CharGPT model = make_model();
      FlatParameters& parameters = model->flat();
      const auto decayed =
          static_cast<std::size_t>(decay == DecayScope::all ? parameters.size() : parameters.matrix_size());
      const OptimizerConfig config = make_config(decay, clip);
      ThreadPool pool(2);
      Optimizer optimizer(parameters, config, pool);
      PlainAdamW plain(to_vector(parameters.values()), decayed, config);
      for (int step = 0; step < 5; ++step) {
        const double rate = 0.1 / (step + 1);
        parameters.gradients().copy_(torch::randn({parameters.size()}));
        plain.step(to_vector(parameters.gradients()), rate);
        optimizer.step(rate, optimizer.gradient_norm());
      }
      const auto got = to_vector(parameters.values());
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], plain.values()[i], 1e-6) << "element " << i;
    }
  }
}

/// The recurrence of torch.optim.SGD's documentation.
TEST(Optimizer, IsSgdWithAndWithoutMomentumAndOnlyThenHasAState) {
  for (const double momentum : {0.0, 0.9}) {
    CharGPT model = make_model();
    FlatParameters& parameters = model->flat();
    OptimizerConfig config = make_config(DecayScope::matrices, 0.5);
    config.name = OptimizerName::sgd;
    config.momentum = momentum;
    ThreadPool pool(2);
    Optimizer optimizer(parameters, config, pool);
    EXPECT_EQ(optimizer.state().size(), momentum > 0.0 ? 1U : 0U);
    std::vector<double> values = to_vector(parameters.values()), buffer(values.size());
    for (int step = 0; step < 5; ++step) {
      parameters.gradients().copy_(torch::randn({parameters.size()}));
      const double norm = parameters.gradients().norm().item<double>(), factor = std::min(1.0, 0.5 / (norm + 1e-6));
      const std::vector<double> g = to_vector(parameters.gradients());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double decay = i < static_cast<std::size_t>(parameters.matrix_size()) ? 0.3 : 0.0;
        buffer[i] = momentum * buffer[i] + g[i] * factor + decay * values[i];
        values[i] -= 0.1 * buffer[i];
      }
      optimizer.step(0.1, optimizer.gradient_norm());
    }
    const auto got = to_vector(parameters.values());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], values[i], 1e-6) << "element " << i;
  }
}

TEST(Optimizer, TheGradientNormIsTheOneOfAllGradientsTogether) {
  CharGPT model = make_model();
  model->flat().gradients().fill_(2.0);
  const double truth = 2.0 * std::sqrt(static_cast<double>(model->flat().size()));
  ThreadPool pool(1);
  EXPECT_NEAR(Optimizer(model->flat(), {}, pool).gradient_norm(), truth, 1e-5);
}

}  // namespace
}  // namespace chargpt
