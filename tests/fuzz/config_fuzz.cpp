#include "chargpt/base/config_loader.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] {
    ConfigSources sources;
    sources.file = file_with(text_of(data, size));
    const Config config = load_config(sources).config;
    check_rules(config);
    if (to_json(config_from_json(to_json(config), "again")) != to_json(config)) __builtin_trap();
  });
}
