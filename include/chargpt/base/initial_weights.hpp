#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "chargpt/base/config.hpp"
#include "chargpt/base/tokenizer.hpp"

namespace chargpt {

/// What a run that begins with the weights of a file took from it.
struct InitialWeights {
  bool verified = false;        ///< the file carried a checksum
  bool has_vocabulary = false;  ///< and so rows were matched by character; else they were taken in order
  std::int64_t taken = 0;       ///< characters of the run whose rows came from the file
  std::int64_t fresh = 0;       ///< characters that the file lacks: their rows stay as they were
  std::int64_t left_out = 0;    ///< characters of the file that the run lacks
};

/// Puts the weights of a safetensors file, ours or a state dict that Python saved, over `values`: the weights of the
/// model of `config` and `tokenizer`, in the order of its ParameterLayout. Where the file carries a vocabulary
/// (metadata "vocabulary"), rows of token_emb and lm are matched by character. Heads are neither tied nor untied: with
/// model.tied_head the file holds token_emb.weight, lm.weight or both if they are equal, without it both.
/// Error(unusable_model) naming file and tensor: missing, extra, misshapen, not finite; a head's `tril` that is not
/// lower-triangular ones; a tied head that differs; without a vocabulary another number of rows. Error(no_input) for a
/// missing file. `values` are unchanged after an error.
InitialWeights load_initial_weights(const std::string& path, const ModelConfig& config, const Tokenizer& tokenizer,
                                    std::span<float> values);

}  // namespace chargpt
