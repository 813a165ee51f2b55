#include "chargpt/base/visible_gpus.hpp"

#include <cstdlib>
#include <sstream>

#include "chargpt/base/file.hpp"

namespace chargpt {

std::vector<std::string> visible_gpus(const std::string& root) {
  std::vector<std::string> gpus;
  const std::size_t found = names_in(root + "/proc/driver/nvidia/gpus").size();
  if (found == 0) return gpus;
  if (const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES")) {
    std::istringstream names(chosen);
    for (std::string name; std::getline(names, name, ',');) gpus.push_back(name);
    return gpus;
  }
  for (std::size_t i = 0; i < found; ++i) gpus.push_back(std::to_string(i));
  return gpus;
}

}  // namespace chargpt
