#pragma once

#include <cstddef>

namespace chargpt {

/// One step of AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019, algorithm 2).
struct AdamWStep {
  float learning_rate;
  float first_complement;   ///< 1 - first beta, from more digits than a float of the beta keeps
  float second_complement;  ///< 1 - second beta
  float epsilon;
  float weight_decay;
  float first_correction;   ///< 1 - first beta^t, t = 1, 2, … the number of this step
  float second_correction;  ///< 1 - second beta^t
  float gradient_factor;    ///< what clipping multiplies the gradients by
};

/// Updates values and both moments of `count` parameters in one pass.
void adamw(const AdamWStep& step, const float* gradients, std::size_t count, float* values, float* first_moment,
           float* second_moment);

/// Sum of the squares: of a few thousand at a time in single precision, of those sums in double.
double sum_of_squares(const float* values, std::size_t count);

}  // namespace chargpt
