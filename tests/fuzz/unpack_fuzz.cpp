#include "chargpt/base/unpack.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] { read_all(*unpacked(std::make_unique<TextSource>(text_of(data, size)), "input")); });
}
