#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/tokenizer.hpp"
#include "chargpt/base/windows.hpp"
#include "chargpt/engine/passes.hpp"

namespace chargpt {

/// Negative log-likelihood of a text, summed in double precision.
struct Evaluation {
  double nats = 0.0;
  std::int64_t characters = 0;  ///< scored, each as often as it was; an end mark counts as one
  std::int64_t bytes = 0;       ///< of the scored characters in UTF-8; an end mark counts as one
  std::int64_t windows = 0;
  double squared_means = 0.0;  ///< sum over the windows of the square of a window's nats per character

  double nats_per_char() const;
  double perplexity() const;  ///< exp(nats_per_char)
  double bits_per_char() const;
  double bits_per_byte() const;
  /// Of nats_per_char as an estimate, when the windows are independent draws of one size: their means' standard
  /// deviation by the square root of their number. 0 for fewer than two windows.
  double standard_error() const;
};

/// How well one id was predicted.
struct CharScore {
  std::int64_t index;  ///< position in the split
  std::int32_t id;     ///< that was to be predicted
  double nats;         ///< -ln of its probability
  std::int64_t rank;   ///< 1: none was likelier
  double entropy;      ///< nats, of the predicted distribution
};

/// Scores `windows` of `split` without dropout, in their order; `each`, where given, is told of every scored id.
/// `batch` windows a pass change speed and memory, not the result. `stopped` is asked between passes; when it says true
/// the result is incomplete and must be thrown away.
Evaluation evaluate(Passes& passes, const Tokenizer& tokenizer, const Split& split, const EvaluationWindows& windows,
                    std::int64_t batch, const std::function<bool()>& stopped = {},
                    const std::function<void(const CharScore&)>& each = {});

}  // namespace chargpt
