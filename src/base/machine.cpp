#include "chargpt/base/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "chargpt/base/version.hpp"

namespace chargpt {
namespace {

std::string system_name() {
  utsname names{};
  uname(&names);
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

Json processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return nullptr;
}

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

double memory_gib() {
  struct sysinfo info {};
  sysinfo(&info);
  double bytes = static_cast<double>(info.totalram) * info.mem_unit;
  double limit = 0.0;
  std::ifstream file("/sys/fs/cgroup/memory.max");  // a number, or "max"
  if (file >> limit) bytes = std::min(bytes, limit);
  return bytes / (1 << 30);
}

}  // namespace

Json machine_facts() {
  return {{"chargpt", std::string(version())}, {"compiler", __VERSION__}, {"system", system_name()},
          {"processor", processor_name()},     {"cpus", usable_cpus()},   {"memory_gib", memory_gib()}};
}

}  // namespace chargpt
