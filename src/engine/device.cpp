#include "chargpt/engine/device.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>
#include <torch/cuda.h>

#include <cstdlib>

#include "chargpt/base/device_name.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/thread_pool.hpp"

namespace chargpt {
namespace {

/// Opens a library for the rest of the process. Returns why it cannot be opened, or "".
std::string open_library(const char* name) {
  if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return "";
  return dlerror();
}

struct Cuda {
  c10::DeviceIndex devices = 0;
  std::string problem;  ///< why there is none
};

/// Asking LibTorch about CUDA before its CUDA library is open would settle the answer to "no" for the whole process.
Cuda find_cuda() {
  if (const auto problem = open_library("libtorch_cuda.so"); !problem.empty()) {
    return {0, fmt::format("this LibTorch's CUDA library cannot be opened ({})", problem)};
  }
  const c10::DeviceIndex count = torch::cuda::device_count();
  if (count > 0) return {count, ""};
  return {0, "LibTorch sees no CUDA device (no NVIDIA GPU, or no driver)"};
}

std::string visible_devices() {
  const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
  return value == nullptr ? "CUDA_VISIBLE_DEVICES is not set" : fmt::format("CUDA_VISIBLE_DEVICES is \"{}\"", value);
}

c10::Device require_cuda(const std::string& name, int index) {
  const Cuda cuda = find_cuda();
  if (cuda.devices == 0) {
    throw Error(ExitCode::usage,
                fmt::format("run.device is \"{}\", but {}; {}; devices seen: cpu. Use --device cpu or auto", name,
                            cuda.problem, visible_devices()));
  }
  if (index >= cuda.devices) {
    throw Error(ExitCode::usage,
                fmt::format("run.device is \"{}\", but the devices seen are cpu, cuda:0 to cuda:{}; {}", name,
                            cuda.devices - 1, visible_devices()));
  }
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

ChosenDevice choose_automatically() {
  if (!open_library("libcuda.so.1").empty()) return {c10::kCPU, "no NVIDIA driver on this machine"};
  const Cuda cuda = find_cuda();
  if (cuda.devices == 0) return {c10::kCPU, cuda.problem};
  return {{c10::kCUDA, 0}, ""};
}

}  // namespace

ChosenDevice choose_device(const std::string& name) {
  const DeviceName wanted = parse_device_name(name);
  switch (wanted.kind) {
    case DeviceName::Kind::automatic:
      return choose_automatically();
    case DeviceName::Kind::cpu:
      return {c10::kCPU, ""};
    case DeviceName::Kind::cuda:
      return {require_cuda(name, wanted.index.value_or(0)), ""};
  }
  return {c10::kCPU, ""};
}

int set_threads(std::int64_t threads) {
  at::set_num_threads(threads > 0 ? static_cast<int>(threads) : usable_threads());
  return at::get_num_threads();
}

void set_tf32(bool tf32, const ChosenDevice& device) {
  if (!tf32) return;
  if (device.device.is_cpu()) {
    throw Error(ExitCode::usage,
                fmt::format("run.tf32 is true, which is for CUDA, but the device is the CPU ({}), which computes in "
                            "32-bit floats; set run.tf32 to false",
                            device.reason.empty() ? "run.device is cpu" : device.reason));
  }
  at::globalContext().setFloat32MatmulPrecision("high");
}

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2'000'000'000);
}

}  // namespace chargpt
