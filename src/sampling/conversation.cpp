#include "chargpt/sampling/conversation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chargpt/base/config_loader.hpp"

namespace chargpt {
namespace {

constexpr const char* kHelp =
    "A line is continued; an empty one starts anew. Ctrl-C stops the text, Ctrl-D ends.\n"
    "/KEY VALUE   sets a key of the sample section, e.g. /temperature 0.8, /top-k 5, /length 200, /seed 7,\n"
    "             /stop [\"\\n\\n\"]\n"
    "/settings    shows the settings\n"
    "/reset       goes back to the settings and the seed of the start\n"
    "/quit        ends\n"
    "//...        continues a line that begins with one /\n";

class Conversation {
 public:
  Conversation(const SampledModel& model, const SampleConfig& settings, Partner partner)
      : model_(model), start_(settings), settings_(settings), partner_(std::move(partner)) {
    partner_.output.prompt = false;
  }

  void run() {
    while (const auto line = partner_.read_line()) {
      if (*line == "/quit") break;
      try {
        answer(*line);
      } catch (const Error& error) {
        if (error.code() != ExitCode::usage && error.code() != ExitCode::bad_data) throw;
        partner_.tell(fmt::format("error: {}\n", error.what()));
      }
    }
  }

 private:
  void answer(const std::string& line) {
    if (line.starts_with("//")) return write(line.substr(1));
    if (!line.starts_with("/")) return write(line);
    if (line == "/help") return partner_.tell(kHelp);
    if (line == "/settings") return show();
    if (line == "/reset") {
      settings_ = start_;
      return;
    }
    set(line.substr(1));
  }

  void write(const std::string& prompt) {
    settings_.prompt = prompt;
    write_samples(model_, {{settings_, "the line"}}, partner_.output);
    settings_.seed += settings_.samples;
  }

  void show() {
    const Json sample = whole()["sample"];
    std::string text;
    for (const auto& [key, value] : sample.items()) {
      if (key != "prompt")
        text += fmt::format("/{} {}\n", key, value.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    partner_.tell(text);
  }

  /// "top-k 5"; a key alone is meant as true.
  void set(const std::string& words) {
    const auto space = words.find(' ');
    std::string key = words.substr(0, space);
    std::replace(key.begin(), key.end(), '-', '_');
    if (key == "prompt") throw Error(ExitCode::usage, "/prompt: the prompt is each line that is typed; type it alone");
    const std::string value = space == std::string::npos ? "true" : words.substr(space + 1);
    ConfigSources sources;
    sources.base = whole();
    sources.overrides = {{"sample." + key, value, "/" + words.substr(0, space)}};
    const SampleConfig changed = load_config(sources).config.sample;
    check_rules(changed);
    settings_ = changed;
  }

  Json whole() const {
    Config config;
    config.sample = settings_;
    config.sample.prompt.clear();  // it may be no UTF-8
    return to_json(config);
  }

  const SampledModel& model_;
  SampleConfig start_, settings_;
  Partner partner_;
};

}  // namespace

void converse(const SampledModel& model, const SampleConfig& settings, const Partner& partner) {
  Conversation(model, settings, partner).run();
}

}  // namespace chargpt
