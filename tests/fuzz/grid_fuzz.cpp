#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/grid.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] {
    const Grid grid = parse_grid(std::string(text_of(data, size)), "grid", 1);
    if (grid.points.empty() || grid.seeds < 1) __builtin_trap();
    for (const Json& point : grid.points) {
      for (const auto& [key, value] : point.items()) {
        const auto dot = key.find('.');
        config_from_json({{key.substr(0, dot), {{key.substr(dot + 1), value}}}}, "a point");  // each value is one
      }
    }
  });
}
