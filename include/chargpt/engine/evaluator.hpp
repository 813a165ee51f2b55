#pragma once

#include <cstdint>
#include <functional>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/tokenizer.hpp"
#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {

/// Negative log-likelihood of a text, summed in double precision.
struct Evaluation {
  double nats = 0.0;
  std::int64_t characters = 0;  ///< scored; an end mark counts as one
  std::int64_t bytes = 0;       ///< of the scored characters in UTF-8; an end mark counts as one

  double nats_per_char() const;
  double perplexity() const;  ///< exp(nats_per_char)
  double bits_per_char() const;
  double bits_per_byte() const;
};

/// Scores every id of `split` but each document's first, in non-overlapping windows of the model's context, without
/// dropout. `batch` windows a pass change speed and memory, not the result. `stopped` is asked between passes; when it
/// says true the result is incomplete and must be thrown away.
Evaluation evaluate(CharGPT& model, const Tokenizer& tokenizer, const Split& split, std::int64_t batch,
                    const std::function<bool()>& stopped = {});

}  // namespace chargpt
