#include "chargpt/base/checkpoint_folder.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] {
    const JsonRules rules = {.source = "manifest", .code = ExitCode::unusable_model};
    const Manifest manifest = Manifest::from_json(parse_json(text_of(data, size), rules), "manifest");
    if (Manifest::from_json(manifest.to_json(), "again").step != manifest.step) __builtin_trap();
  });
}
