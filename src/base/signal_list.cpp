#include "chargpt/base/signal_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

#include "chargpt/base/json.hpp"

namespace chargpt {
namespace {

struct SignalName {
  std::string_view name;
  int number;
};
constexpr std::array<SignalName, 7> kSignals = {{{"INT", SIGINT},
                                                 {"TERM", SIGTERM},
                                                 {"HUP", SIGHUP},
                                                 {"QUIT", SIGQUIT},
                                                 {"USR1", SIGUSR1},
                                                 {"USR2", SIGUSR2},
                                                 {"XCPU", SIGXCPU}}};

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

int signal_number(std::string_view name) {
  const std::string_view bare = name.starts_with("SIG") ? name.substr(3) : name;
  const auto* found = std::find_if(kSignals.begin(), kSignals.end(), [&](const auto& row) { return row.name == bare; });
  if (found != kSignals.end()) return found->number;
  throw Error(ExitCode::usage, fmt::format("run.stop_signals: got {}, wanted names separated by commas, of INT, TERM, "
                                           "HUP, QUIT, USR1, USR2, XCPU",
                                           shown(name)));
}

}  // namespace

std::vector<int> parse_signal_list(const std::string& text) {
  std::vector<int> numbers;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    numbers.push_back(signal_number(trimmed(std::string_view(text).substr(begin, end - begin))));
    begin = end + 1;
  }
  return numbers;
}

}  // namespace chargpt
