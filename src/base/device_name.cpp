#include "chargpt/base/device_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

bool is_index(const std::string& text) {
  return !text.empty() && text.size() <= 4 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

DeviceName parse_device_name(const std::string& text) {
  using Kind = DeviceName::Kind;
  if (text == "auto") return {Kind::automatic, {}};
  if (text == "cpu") return {Kind::cpu, {}};
  if (text == "cuda") return {Kind::cuda, {}};
  const std::string prefix = "cuda:";
  if (text.starts_with(prefix) && is_index(text.substr(prefix.size()))) {
    return {Kind::cuda, std::stoi(text.substr(prefix.size()))};
  }
  throw Error(ExitCode::usage,
              fmt::format("run.device: got \"{}\", wanted auto, cpu, cuda or cuda:N (N from 0 on)", text));
}

}  // namespace chargpt
