#include "chargpt/engine/evaluator.hpp"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace chargpt {
namespace {

/// A pass over some windows, B of them, padded to the longest, T. All on the CPU, (B, T).
struct PassScores {
  std::int64_t length;  ///< T
  std::vector<float> nats;
  torch::Tensor rank;     ///< int64; undefined unless asked for
  torch::Tensor entropy;  ///< double; undefined unless asked for
};

/// Short windows are padded behind their end, where causality keeps it from mattering.
TokenBatch padded(const Split& split, std::span<const EvalWindow> windows) {
  TokenBatch batch;
  batch.windows = static_cast<std::int64_t>(windows.size());
  for (const EvalWindow& window : windows) batch.length = std::max(batch.length, window.length);
  batch.inputs.resize(static_cast<std::size_t>(batch.windows * batch.length));
  batch.targets.resize(batch.inputs.size());
  std::vector<std::int32_t> ids;
  for (std::size_t b = 0; b < windows.size(); ++b) {
    const auto length = static_cast<std::size_t>(windows[b].length);
    ids.resize(length + 1);
    split.read(windows[b].offset, ids);
    const auto row = static_cast<std::int64_t>(b) * batch.length;
    std::copy_n(ids.begin(), length, batch.inputs.begin() + row);
    std::copy_n(ids.begin() + 1, length, batch.targets.begin() + row);
  }
  return batch;
}

PassScores score_pass(Passes& passes, const TokenBatch& batch, bool detailed) {
  PassScores scores{batch.length, passes.losses(batch), {}, {}};
  if (!detailed) return scores;
  const torch::Tensor log_p = at::log_softmax(passes.logits(batch).to(torch::kDouble), -1);  // (B, T, V)
  const torch::Tensor targets = torch::tensor(batch.targets, torch::kInt32).to(torch::kLong).to(log_p.device());
  const torch::Tensor target_log_p = log_p.gather(-1, targets.view({batch.windows, batch.length, 1}));  // (B, T, 1)
  scores.rank = log_p.gt(target_log_p).sum(-1).add(1).cpu();
  scores.entropy = log_p.exp().mul(log_p).sum(-1).neg().cpu();
  return scores;
}

/// Bytes that each id writes; a mark counts as one.
std::vector<std::int64_t> symbol_bytes(const Tokenizer& tokenizer) {
  std::vector<std::int64_t> bytes;
  bytes.reserve(static_cast<std::size_t>(tokenizer.size()));
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    bytes.push_back(tokenizer.is_mark(id) ? 1 : static_cast<std::int64_t>(tokenizer.symbol(id).size()));
  }
  return bytes;
}

/// Adds up passes, window by window.
class Accumulator {
 public:
  Accumulator(const Tokenizer& tokenizer, const std::function<void(const CharScore&)>& each)
      : bytes_(symbol_bytes(tokenizer)), each_(each) {}

  void add(const PassScores& scores, const TokenBatch& batch, std::span<const EvalWindow> windows) {
    for (std::size_t b = 0; b < windows.size(); ++b) {
      add(scores, batch, windows[b], static_cast<std::int64_t>(b) * scores.length);
    }
  }
  const Evaluation& result() const { return result_; }

 private:
  /// `row`: where the window's row begins in the pass.
  void add(const PassScores& scores, const TokenBatch& batch, const EvalWindow& window, std::int64_t row) {
    double nats = 0.0;
    for (std::int64_t t = window.length - window.scored; t < window.length; ++t) {
      const std::int64_t index = window.offset + 1 + t;
      const double loss = scores.nats[static_cast<std::size_t>(row + t)];
      nats += loss;
      const std::int32_t id = batch.targets[static_cast<std::size_t>(row + t)];
      result_.bytes += bytes_[static_cast<std::size_t>(id)];
      if (each_) {
        each_({index, id, loss, scores.rank.const_data_ptr<std::int64_t>()[row + t],
               scores.entropy.const_data_ptr<double>()[row + t]});
      }
    }
    const double mean = nats / static_cast<double>(window.scored);
    result_.nats += nats;
    result_.squared_means += mean * mean;
    result_.characters += window.scored;
    ++result_.windows;
  }

  std::vector<std::int64_t> bytes_;
  const std::function<void(const CharScore&)>& each_;
  Evaluation result_;
};

}  // namespace

double Evaluation::nats_per_char() const { return nats / static_cast<double>(characters); }
double Evaluation::perplexity() const { return std::exp(nats_per_char()); }
double Evaluation::bits_per_char() const { return nats_per_char() / std::numbers::ln2; }
double Evaluation::bits_per_byte() const { return nats / std::numbers::ln2 / static_cast<double>(bytes); }

double Evaluation::standard_error() const {
  if (windows < 2) return 0.0;
  const auto n = static_cast<double>(windows);
  const double mean = nats_per_char();
  return std::sqrt(std::max(0.0, squared_means / n - mean * mean) / (n - 1));
}

Evaluation evaluate(Passes& passes, const Tokenizer& tokenizer, const Split& split, const EvaluationWindows& windows,
                    std::int64_t batch, const std::function<bool()>& stopped,
                    const std::function<void(const CharScore&)>& each) {
  passes.read_weights(false);
  Accumulator total(tokenizer, each);
  std::vector<EvalWindow> pass;
  for (std::int64_t begin = 0; begin < windows.size(); begin += batch) {
    if (stopped && stopped()) break;
    pass.clear();
    for (std::int64_t w = begin; w < std::min(begin + batch, windows.size()); ++w) pass.push_back(windows[w]);
    const TokenBatch ids = padded(split, pass);
    total.add(score_pass(passes, ids, each != nullptr), ids, pass);
  }
  return total.result();
}

}  // namespace chargpt
