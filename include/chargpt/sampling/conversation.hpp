#pragma once

#include <functional>
#include <optional>
#include <string>

#include "chargpt/sampling/sample_writer.hpp"

namespace chargpt {

/// Who talks to a model.
struct Partner {
  std::function<std::optional<std::string>()> read_line;  ///< without its newline; nothing at the end
  std::function<void(const std::string&)> tell;           ///< shows some lines that are not the model's
  SampleOutput output;                                    ///< output.stopped ends a text, not the conversation
};

/// Continues each line that is read, with settings that lines such as "/temperature 0.8" change; "/help" tells of them.
/// The first text has settings.seed, each further one the next seed. What is wrong with a line is told, and goes on.
void converse(const SampledModel& model, const SampleConfig& settings, const Partner& partner);

}  // namespace chargpt
