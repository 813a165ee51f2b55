#include "chargpt/sampling/prompts_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chargpt/base/config_loader.hpp"

namespace chargpt {
namespace {

SampleConfig read_line(std::string_view text, int number, const std::string& source, const Json& settings) {
  const Json line = parse_json(text, {.source = source, .first_line = number});
  const std::string place = fmt::format("{}, line {}", source, number);
  if (!line.is_object() || !line.contains("prompt")) {
    throw Error(ExitCode::usage,
                fmt::format("{}: got {}, wanted an object with a prompt, such as {{\"prompt\": \"Once\", "
                            "\"temperature\": 0.8}}",
                            place, line.is_object() ? "an object without one" : line.type_name()));
  }
  Json sample = settings;
  sample.update(line);
  const Config config = config_from_json({{"sample", sample}}, place);
  try {
    check_rules(config.sample);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", place, error.what()));
  }
  return config.sample;
}

}  // namespace

std::vector<SampleRequest> read_prompts(std::string_view text, const std::string& source,
                                        const SampleConfig& settings) {
  Config config;
  config.sample = settings;
  const Json base = to_json(config)["sample"];
  std::vector<SampleRequest> requests;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      requests.push_back({read_line(line, number, source, base), fmt::format("{}, line {}", source, number)});
    } catch (const Error& error) {
      throw Error(ExitCode::bad_data, error.what());
    }
  }
  if (requests.empty()) throw Error(ExitCode::bad_data, source + " holds no prompt");
  return requests;
}

}  // namespace chargpt
