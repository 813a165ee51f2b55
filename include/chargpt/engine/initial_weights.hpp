#pragma once

#include <cstdint>
#include <string>

#include "chargpt/base/tokenizer.hpp"
#include "chargpt/nn/char_gpt.hpp"

namespace chargpt {

/// What a run that begins with the weights of a file took from it.
struct InitialWeights {
  bool verified = false;        ///< the file carried a checksum
  bool has_vocabulary = false;  ///< and so rows were matched by character; else they were taken in order
  std::int64_t taken = 0;       ///< characters of `tokenizer` whose rows came from the file
  std::int64_t fresh = 0;       ///< characters that the file lacks: their rows stay as they were
  std::int64_t left_out = 0;    ///< characters of the file that `tokenizer` lacks
};

/// Puts the weights of a safetensors file, ours or a state dict that Python saved, into `model`, whose ids are
/// `tokenizer`'s. Where the file carries a vocabulary (metadata "vocabulary"), the rows of token_emb and lm are matched
/// by character. Error(unusable_model) naming file and tensor: missing, extra, misshapen, not finite; a `tril` that is
/// not lower-triangular ones; without a vocabulary another number of rows. Error(no_input) for a missing file. The
/// model is unchanged after an error.
InitialWeights load_initial_weights(const std::string& path, CharGPT& model, const Tokenizer& tokenizer);

}  // namespace chargpt
