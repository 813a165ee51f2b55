#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/sampling/generate.hpp"

namespace chargpt {

/// Samples that are asked for: settings.samples of them, which continue settings.prompt. Sample i has seed
/// settings.seed + i.
struct SampleRequest {
  SampleConfig settings;
  std::string source;  ///< names the prompt in messages
};

/// How samples leave the program.
struct SampleOutput {
  std::function<bool(std::string_view)> write;  ///< false when nobody reads any more
  std::function<bool()> stopped;                ///< asked after each id
  Warn warn;
  bool json = false;            ///< a line for each sample; docs/formats.md describes it
  bool each_character = false;  ///< hand on each character at once, else line by line
  bool prompt = true;           ///< write the prompt before its continuation
};

/// A model that can be sampled.
struct SampledModel {
  const Tokenizer& tokenizer;
  std::int64_t context;
  NextLogits next;
  std::int64_t together = 64;  ///< samples drawn at a time at most, at least 1
  bool marked = false;         ///< prompts begin a document, and the end mark stands before them
};

/// Draws all samples, up to model.together at a time, and writes them in the order of the requests and their seeds, the
/// first of each group as it comes. Nothing is written before every prompt is known to be sound. Errors as
/// start_stream() and generate().
void write_samples(const SampledModel& model, const std::vector<SampleRequest>& requests, const SampleOutput& output);

}  // namespace chargpt
