#pragma once

#include "chargpt/engine/passes.hpp"
#include "chargpt/sampling/generate.hpp"

namespace chargpt {

/// The modules' logits for generate(): the whole window is computed anew for every character. `model` is shared.
NextLogits model_logits(CharGPT model);

/// Logits on the path of the passes, which must outlive them; the weights must not change meanwhile.
NextLogits model_logits(Passes& passes);

}  // namespace chargpt
