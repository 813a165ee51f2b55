#pragma once

#include "chargpt/nn/char_gpt.hpp"
#include "chargpt/sampling/generate.hpp"

namespace chargpt {

/// The module's logits for generate(): the whole window is computed anew for every character. `model` is shared.
NextLogits model_logits(CharGPT model);

}  // namespace chargpt
