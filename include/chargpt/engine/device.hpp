#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace chargpt {

struct ChosenDevice {
  c10::Device device;
  std::string reason;  ///< for `auto` that took the CPU: why not CUDA; else empty
};

/// Turns a device name into a device that exists. LibTorch's CUDA library is opened only if CUDA is asked for, or on
/// `auto` where the NVIDIA driver is there. Error(usage) when CUDA is asked for and cannot be had: says why, which
/// devices are visible, and the value of CUDA_VISIBLE_DEVICES.
ChosenDevice choose_device(const std::string& name);

/// Obeys run.threads; 0 takes usable_threads(). Returns the number used.
int set_threads(std::int64_t threads);

/// Obeys run.tf32 for the matrix products on `device`. Error(usage) when it asks for it on a CPU.
void set_tf32(bool tf32, const ChosenDevice& device);

/// Has the C library keep freed memory. glibc gives large blocks back to the kernel and takes them again for every
/// tensor of every step; kept, a step faults in no pages. For programs whose work is tensors.
void keep_freed_memory();

}  // namespace chargpt
