#include "chargpt/engine/evaluator.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "chargpt/base/windows.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kIgnored = -100;  // a target that no loss is computed for

/// Sum of the losses of some windows. Short ones are padded behind their end, where causality keeps it from mattering.
double pass_nats(CharGPT& model, const Split& split, std::span<const EvalWindow> windows) {
  const std::int64_t T = std::max_element(windows.begin(), windows.end(), [](const auto& a, const auto& b) {
                           return a.length < b.length;
                         })->length;
  const auto B = static_cast<std::int64_t>(windows.size());
  torch::Tensor inputs = torch::zeros({B, T}, torch::kLong);
  torch::Tensor targets = torch::full({B, T}, kIgnored, torch::kLong);
  for (std::int64_t b = 0; b < B; ++b) {
    const EvalWindow& window = windows[static_cast<std::size_t>(b)];
    const std::int32_t* ids = split.ids.data() + window.offset;
    std::copy_n(ids, window.length, inputs.data_ptr<std::int64_t>() + b * T);
    std::copy_n(ids + 1, window.length, targets.data_ptr<std::int64_t>() + b * T);
  }
  const torch::Tensor logits = model->forward(inputs.to(model->device())).flatten(0, 1);  // (B * T, V)
  const torch::Tensor losses =
      at::cross_entropy_loss(logits, targets.to(model->device()).flatten(), {}, at::Reduction::None, kIgnored);
  return losses.sum(torch::kDouble).item<double>();
}

}  // namespace

double Evaluation::nats_per_char() const { return nats / static_cast<double>(characters); }
double Evaluation::perplexity() const { return std::exp(nats_per_char()); }
double Evaluation::bits_per_char() const { return nats_per_char() / std::numbers::ln2; }
double Evaluation::bits_per_byte() const { return nats / std::numbers::ln2 / static_cast<double>(bytes); }

Evaluation evaluate(CharGPT& model, const Tokenizer& tokenizer, const Split& split, std::int64_t batch,
                    const std::function<bool()>& stopped) {
  const torch::NoGradGuard no_grad;
  const auto windows = evaluation_windows(split, model->config().context);
  std::vector<std::int64_t> symbol_bytes;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    const bool end_mark = tokenizer.has_end_mark() && id == Tokenizer::end_mark_id();
    symbol_bytes.push_back(end_mark ? 1 : static_cast<std::int64_t>(tokenizer.symbol(id).size()));
  }
  Evaluation result;
  for (std::size_t begin = 0; begin < windows.size(); begin += static_cast<std::size_t>(batch)) {
    if (stopped && stopped()) break;
    const std::size_t count = std::min(static_cast<std::size_t>(batch), windows.size() - begin);
    const std::span pass(windows.data() + begin, count);
    result.nats += pass_nats(model, split, pass);
    for (const EvalWindow& window : pass) {
      result.characters += window.length;
      for (std::int64_t i = 1; i <= window.length; ++i) {
        result.bytes += symbol_bytes[static_cast<std::size_t>(split.ids[static_cast<std::size_t>(window.offset + i)])];
      }
    }
  }
  return result;
}

}  // namespace chargpt
