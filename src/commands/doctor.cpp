#include "chargpt/commands/doctor.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>

#include "chargpt/base/machine.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/table.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/kernels/bf16.hpp"
#include "chargpt/kernels/instruction_set.hpp"

namespace chargpt {
namespace {

/// The file that LibTorch's CPU part was opened from.
Json libtorch_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) == 0) return nullptr;
  return info.dli_fname;
}

/// Every device that can be used, or why it cannot.
Json devices() {
  Json rows = Json::array({{{"device", "cpu"}, {"usable", true}, {"reason", ""}}});
  const ChosenDevice best = choose_device("auto");
  if (best.device.is_cpu()) {
    rows.push_back({{"device", "cuda"}, {"usable", false}, {"reason", best.reason}});
    return rows;
  }
  for (int i = 0; i < static_cast<int>(torch::cuda::device_count()); ++i) {
    rows.push_back({{"device", fmt::format("cuda:{}", i)}, {"usable", true}, {"reason", ""}});
  }
  return rows;
}

std::vector<DeviceCheck> check_devices(const Json& rows) {
  std::vector<DeviceCheck> checks;
  for (const Json& row : rows) {
    if (!row["usable"].get<bool>()) continue;
    const auto device = row["device"].get<std::string>();
    for (const Check& check : check_numerics(c10::Device(device))) checks.push_back({device, check});
  }
  return checks;
}

Json checks_json(const std::vector<DeviceCheck>& checks) {
  Json rows = Json::array();
  for (const auto& [device, check] : checks) {
    rows.push_back({{"device", device},
                    {"check", check.name},
                    {"error", std::isfinite(check.error) ? Json(check.error) : Json(nullptr)},
                    {"tolerance", check.tolerance},
                    {"result", check.passed() ? "ok" : "FAILED"}});
  }
  return rows;
}

}  // namespace

int report_doctor(const Json& facts, const std::vector<DeviceCheck>& checks, bool json) {
  Json document = {{"v", 1}};
  document.update(facts);
  if (!checks.empty()) document["checks"] = checks_json(checks);
  const auto failed = std::count_if(checks.begin(), checks.end(), [](const auto& c) { return !c.check.passed(); });
  if (json) {
    write_output(to_json_line(document) + "\n");
  } else {
    std::string text = fmt::format("{}\n{}", to_lines(facts), to_table(facts["devices"]));
    if (!checks.empty()) text += fmt::format("\n{}", to_table(document["checks"]));
    write_output(text);
  }
  if (failed == 0) return static_cast<int>(ExitCode::ok);
  spdlog::error("error: {} of {} checks failed: numbers computed here cannot be trusted", failed, checks.size());
  return static_cast<int>(ExitCode::internal);
}

int doctor_command(const Request& request) {
  Json facts = machine_facts();
  facts["libtorch"] = TORCH_VERSION;
  facts["libtorch_file"] = libtorch_file();
  facts["instruction_set"] = kernel_instruction_set();
  facts["bf16"] = bf16_units().empty() ? Json(nullptr) : Json(name(bf16_units().front()));
  facts["libtorch_instruction_set"] = at::get_cpu_capability();
  facts["threads"] = set_threads(request.config.run.threads);
  facts["devices"] = devices();
  return report_doctor(facts, request.numerics ? check_devices(facts["devices"]) : std::vector<DeviceCheck>{},
                       request.json);
}

}  // namespace chargpt
