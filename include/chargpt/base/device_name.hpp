#pragma once

#include <optional>
#include <string>

namespace chargpt {

/// What `run.device` asks for: "auto", "cpu", "cuda" or "cuda:N" with N >= 0.
struct DeviceName {
  enum class Kind { automatic, cpu, cuda };
  Kind kind = Kind::automatic;
  std::optional<int> index;  ///< of a CUDA device
};

/// Error(usage) when `text` is none of the forms above.
DeviceName parse_device_name(const std::string& text);

}  // namespace chargpt
