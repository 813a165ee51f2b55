#pragma once

#include <string>
#include <vector>

namespace chargpt {

/// The GPUs that CUDA would show to this process, as CUDA_VISIBLE_DEVICES names them: those of that variable, or all
/// that the NVIDIA driver tells of, "0", "1" ... None where there is no driver. `root`: where the files of the system
/// lie.
std::vector<std::string> visible_gpus(const std::string& root = "");

}  // namespace chargpt
