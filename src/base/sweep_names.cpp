#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "chargpt/base/sweep_plan.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kLongestName = 160;
constexpr std::size_t kContentDigits = 12;

bool is_safe(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == '_';
}

std::string safe_value(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !is_safe(c); }, '_');
  return text;
}

/// The key's last part, or all of it where another of the keys has the same last part.
std::string short_key(const std::string& key, const std::vector<std::string>& keys) {
  const auto leaf = [](const std::string& name) { return name.substr(name.find('.') + 1); };
  const auto same =
      std::count_if(keys.begin(), keys.end(), [&](const auto& other) { return leaf(other) == leaf(key); });
  return same > 1 ? key : leaf(key);
}

std::string plain_name(const SweepRun& run, const std::vector<std::string>& keys) {
  std::string name;
  for (const std::string& key : keys) {
    name +=
        fmt::format("{}{}={}", name.empty() ? "" : ",", short_key(key, keys), safe_value(value_of(run.config, key)));
  }
  return name.empty() ? "run" : name;
}

std::string with_content(const std::string& name, const std::string& content) {
  return fmt::format("{},{}", name.substr(0, kLongestName - kContentDigits - 1), content.substr(0, kContentDigits));
}

}  // namespace

Json value_of(const Config& config, const std::string& key) {
  Config copy = config;
  return describe(copy).find(key)->get();
}

std::vector<std::string> varied_keys(const std::vector<SweepRun>& runs) {
  if (runs.empty()) return {};
  Config first = runs.front().config;
  std::vector<std::string> varied;
  const KeyList keys = describe(first);
  std::set<std::string> differing;
  for (const SweepRun& run : runs) {
    Config config = run.config;
    const KeyList others = describe(config);
    for (std::size_t k = 0; k < keys.keys().size(); ++k) {
      if (keys.keys()[k].get() != others.keys()[k].get()) differing.insert(keys.keys()[k].name);
    }
  }
  for (const ConfigKey& key : keys.keys()) {
    if (differing.contains(key.name)) varied.push_back(key.name);
  }
  return varied;
}

void name_runs(std::vector<SweepRun>& runs, const std::vector<SweepRun>& known) {
  std::map<std::string, std::string> name_of;  // by content
  std::set<std::string> taken;
  for (const SweepRun& run : known) {
    name_of[run.content] = run.name;
    taken.insert(run.name);
  }
  std::vector<SweepRun> all = known;
  all.insert(all.end(), runs.begin(), runs.end());
  const std::vector<std::string> keys = varied_keys(all);
  for (SweepRun& run : runs) {
    const auto old = name_of.find(run.content);
    run.name = old != name_of.end() ? old->second : plain_name(run, keys);
    if (old != name_of.end()) continue;
    if (run.name.size() > kLongestName || taken.contains(run.name)) run.name = with_content(run.name, run.content);
    taken.insert(run.name);
  }
}

}  // namespace chargpt
