#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chargpt/sampling/sample_writer.hpp"

namespace chargpt {

/// What a JSONL file of prompts asks for: a line is an object with `prompt` and any other keys of the `sample` section,
/// which override `settings` for this prompt. Empty lines count, but say nothing. Error(bad_data) with `source`, line,
/// key and reason.
std::vector<SampleRequest> read_prompts(std::string_view text, const std::string& source, const SampleConfig& settings);

}  // namespace chargpt
