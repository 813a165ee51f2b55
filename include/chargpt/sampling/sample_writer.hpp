#pragma once

#include <functional>
#include <string_view>

#include "chargpt/sampling/generate.hpp"

namespace chargpt {

/// How samples leave the program.
struct SampleOutput {
  std::function<bool(std::string_view)> write;  ///< false when nobody reads any more
  std::function<bool()> stopped;                ///< asked after each id
  bool json = false;                            ///< a line for each sample: text, prompt, seed, finish, log_probability
  bool each_character = false;                  ///< hand on each character at once, else line by line
};

/// A model that can be sampled.
struct SampledModel {
  const Tokenizer& tokenizer;
  std::int64_t context;
  NextLogits next;
  std::int64_t together = 64;  ///< samples drawn at a time, at least 1
};

/// Draws settings.samples samples that continue settings.prompt (ids: `prompt`), model.together at a time, and writes
/// them in the order of their seeds, the first of each group as it comes. Sample i has seed settings.seed + i. Errors
/// as generate().
void write_samples(const SampledModel& model, const std::vector<std::int32_t>& prompt, const SampleConfig& settings,
                   const SampleOutput& output);

}  // namespace chargpt
