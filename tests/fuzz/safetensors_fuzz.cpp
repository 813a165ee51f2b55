#include <vector>

#include "chargpt/base/model_file.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] {
    const ModelFile file(file_with(text_of(data, size)));
    std::vector<float> values(static_cast<std::size_t>(file.layout().size()));
    file.copy_values(values);
  });
}
